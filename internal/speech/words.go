package speech

// language is how a language refuses. All lists have the beginnings of words, between commas; a "$" after one ends a word, a " $" ends
// the sentence, and a "^ " begins it.
type language struct {
	verbLast bool // "not" follows the verb
	words    [kinds]string
}

// kind is what a word means in a refusal.
type kind int

const (
	self    kind = iota // who speaks; a language without it has only phrases of both
	not                 // follows self
	cannot              // self and not
	argues              // what a speaker who argues cannot do
	tasks               // what the speaker cannot do refuses
	acts                // refuses if one of things is in the sentence
	things              // what a request is about
	makes               // as acts, of a reply that says nothing else
	never               // a sentence with it argues
	machine             // the speaker is a program
	fair                // what a program says of itself when it refuses
	neutral             // the speaker takes no side
	refusal             // refuses as it is
	offers              // the speaker offers something else
	turns               // the speaker argues after all
	kinds
)
