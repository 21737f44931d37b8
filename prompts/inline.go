package prompts

import (
	"sync"
	"text/template"
	"text/template/parse"
)

// maxInlined is how deep blocks within blocks are put in place. What lies deeper, such as a block that renders itself, stays
// a call.
const maxInlined = 8

// inlined returns a function that gives a template with its blocks put in the places of their calls, which takes less time
// to render. The work is done when the template is first needed.
func inlined(t *template.Template) func() *template.Template {
	return sync.OnceValue(func() *template.Template {
		flat, err := t.Clone()
		if err != nil {
			return t // unreachable: it was not executed as HTML
		}
		tree := t.Tree.Copy()
		inline(tree.Root, t, 0)
		if _, err := flat.AddParseTree(t.Name(), tree); err != nil {
			return t
		}
		return flat.Lookup(t.Name())
	})
}

// inline replaces each call of a block by the nodes of the block, where that means the same: the call hands on the whole
// data, and nothing around it has changed what the dot is.
func inline(list *parse.ListNode, t *template.Template, depth int) {
	if list == nil || depth == maxInlined {
		return
	}
	var nodes []parse.Node
	for _, n := range list.Nodes {
		switch n := n.(type) {
		case *parse.IfNode:
			inline(n.List, t, depth)
			inline(n.ElseList, t, depth)
		case *parse.TemplateNode:
			if block := t.Lookup(n.Name); block != nil && block.Tree != nil && isDot(n.Pipe) {
				body := block.Tree.Root.CopyList()
				inline(body, t, depth+1)
				nodes = append(nodes, body.Nodes...)
				continue
			}
		}
		nodes = append(nodes, n)
	}
	list.Nodes = nodes
}

// isDot reports whether a call hands on the dot and nothing else.
func isDot(p *parse.PipeNode) bool {
	if p == nil || len(p.Decl) > 0 || len(p.Cmds) != 1 || len(p.Cmds[0].Args) != 1 {
		return false
	}
	_, dot := p.Cmds[0].Args[0].(*parse.DotNode)
	return dot
}
