package prompts

import (
	"sync"
	"text/template"
	"text/template/parse"
)

// maxInlined is the maximum depth of nested blocks that are inlined. Deeper calls, such as those of a recursive block, are
// kept.
const maxInlined = 8

// inlined returns a function that returns the template with its blocks inlined, which renders faster. The function does
// the work on its first call.
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

// inline replaces calls of blocks by the nodes of the blocks if the result is the same: the call must pass on the dot, and
// no surrounding action may have changed the dot.
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

// isDot reports whether a call passes the dot and nothing else.
func isDot(p *parse.PipeNode) bool {
	if p == nil || len(p.Decl) > 0 || len(p.Cmds) != 1 || len(p.Cmds[0].Args) != 1 {
		return false
	}
	_, dot := p.Cmds[0].Args[0].(*parse.DotNode)
	return dot
}
