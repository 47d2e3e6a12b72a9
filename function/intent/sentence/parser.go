package sentence

import (
	"fmt"
	"strings"
)

// A parser reads tokens from left to right.
type parser struct {
	tokens    []token
	at        int
	know      vocabulary
	statement *Statement

	// counts are the replicas that were stated, and places the Sites that were stated without replicas.
	counts []count
	places *place

	// bare are limits without a name, which have a meaning for a slice only.
	bare []span
}

// A count is a number of replicas, with the Sites that follow it.
type count struct {
	span

	value string
	at    *place
}

// A place is a part of a sentence that names Sites.
type place struct {
	span

	names []token
	word  string
}

func newSentenceParser(tokens []token) *parser {
	return &parser{tokens: tokens, know: newVocabulary(), statement: &Statement{spans: map[string]span{}}}
}

// readSentence reads all clauses, in any order.
func (p *parser) readSentence() *Fault {
	p.acceptWords("please")
	if p.isAtTextEnd() {
		return &Fault{Message: "says nothing"}
	}
	for !p.isAtTextEnd() {
		p.readClauseJoiner()
		if fault := p.readClause(); fault != nil {
			return fault
		}
		if fault := p.readClauseEnd(); fault != nil {
			return fault
		}
	}
	return p.finishStatement()
}

// readClauseEnd reads the marks between two clauses. After the last clause only a period may follow.
func (p *parser) readClauseEnd() *Fault {
	t := p.peekNextToken()
	if t.text != "," && t.text != ";" && t.text != "." {
		return nil
	}
	p.at++
	if p.isAtTextEnd() && t.text != "." {
		return p.faultAtSpan(t.span, "must not end with %q", t.text)
	}
	return nil
}

// readClauseJoiner reads the word that binds a clause to its predecessors.
func (p *parser) readClauseJoiner() { p.readPhrase(p.know.joiners) }

// readClause reads one clause by the first reader that recognizes its beginning.
func (p *parser) readClause() *Fault {
	if p.isAtTextEnd() {
		return p.notUnderstood()
	}
	start := p.at
	for _, read := range []func() (bool, *Fault){
		p.readDeployClause, p.readSliceClass, p.readServiceName, p.readServiceType, p.readReplicas, p.readObjective, p.readThroughput, p.readResources, p.readImageClause,
		p.readEndpoint, p.readSitesClause, p.readParameters, p.readPriority, p.readSliceID,
	} {
		p.at = start
		ok, fault := read()
		if ok || fault != nil {
			return fault
		}
	}
	p.at = start
	return p.notUnderstood()
}

// notUnderstood returns a fault at the next word, which begins no clause.
func (p *parser) notUnderstood() *Fault {
	t := p.peekNextToken()
	if p.isAtTextEnd() {
		return p.faultAtSpan(p.tokens[len(p.tokens)-1].span, "is followed by nothing")
	}
	if isNumberToken(t) {
		return p.faultAtSpan(t.span, "%q is not understood here: it has neither a noun to count nor a unit", clipForMessage(t.text))
	}
	return p.faultAtSpan(t.span, "%q is not understood here", clipForMessage(t.text))
}

func clipForMessage(s string) string { return s[:min(len(s), 64)] }

func (p *parser) faultAtSpan(s span, format string, args ...any) *Fault {
	return &Fault{Offset: s.start, Length: s.end - s.start, Message: fmt.Sprintf(format, args...)}
}

func (p *parser) isAtTextEnd() bool { return p.at >= len(p.tokens) }

// peekNextToken returns the next token, or one without text at the end.
func (p *parser) peekNextToken() token {
	if p.isAtTextEnd() {
		return token{}
	}
	return p.tokens[p.at]
}

// spanSinceToken returns the span from a token up to the last token that was read.
func (p *parser) spanSinceToken(start int) span {
	return span{p.tokens[start].start, p.tokens[max(start, p.at-1)].end}
}

// acceptWords reads the words if they are next.
func (p *parser) acceptWords(words string) bool {
	index := p.at
	for word := range strings.FieldsSeq(words) {
		if index >= len(p.tokens) || p.tokens[index].lower != word {
			return false
		}
		index++
	}
	p.at = index
	return true
}

// readPhrase reads the longest phrase that matches the next tokens, and returns its meaning.
func (p *parser) readPhrase(phrases []phrase) (string, bool) {
	start, end, means := p.at, p.at, ""
	for _, candidate := range phrases {
		p.at = start
		if p.acceptWords(candidate.words) && p.at > end {
			end, means = p.at, candidate.means
		}
	}
	p.at = end
	return means, end > start
}

// skipPhrase reads one of the phrases if it is next.
func (p *parser) skipPhrase(phrases []phrase) bool {
	_, ok := p.readPhrase(phrases)
	return ok
}

// setTextOnce sets a value that was read since a token. It returns a fault when it was stated before.
func (p *parser) setTextOnce(path string, target *string, value string, start int) *Fault {
	if *target != "" {
		return p.faultAtSpan(p.spanSinceToken(start), "says the %s a second time", lastPathPart(path))
	}
	*target = value
	p.statement.spans[path] = p.spanSinceToken(start)
	return nil
}

func lastPathPart(path string) string {
	_, last, found := strings.Cut(path, ".")
	if !found {
		return path
	}
	return last
}

// readNameToken reads a word that is not of the grammar, or any word in quotes. A Site cannot have one of the words
// for several Sites as its name.
func (p *parser) readNameToken() (token, bool) {
	t := p.peekNextToken()
	if t.quoted && !isSiteAlias(t.text) {
		p.at++
		return t, true
	}
	if t.text == "" || t.quoted || p.know.reserved[t.lower] || isNumberToken(t) || strings.ContainsAny(t.text[:1], ".,;") {
		return token{}, false
	}
	p.at++
	return t, true
}

// readNameOrWord reads one of some words of the grammar, which are names here, or a name.
func (p *parser) readNameOrWord(words map[string]bool) (token, bool) {
	if t := p.peekNextToken(); !t.quoted && words[t.lower] {
		p.at++
		return t, true
	}
	return p.readNameToken()
}
