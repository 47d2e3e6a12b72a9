package sentence

import (
	"fmt"
	"strings"
)

// A parser reads tokens from left to right.
type parser struct {
	tokens []token
	at     int
	know   vocabulary
	wish   *Wish

	// counts are the replicas that were said, and places the Sites that were said without them.
	counts []count
	places *place

	// bare are limits that only a slice gives a meaning to.
	bare []span
}

// A count is a number of replicas and the Sites that were said right behind it.
type count struct {
	span

	value string
	at    *place
}

// A place is what one part of a sentence says about Sites.
type place struct {
	span

	names []token
	word  string
}

func newParser(tokens []token) *parser {
	return &parser{tokens: tokens, know: newVocabulary(), wish: &Wish{spans: map[string]span{}}}
}

// sentence reads all clauses, in any order.
func (p *parser) sentence() *Fault {
	p.accept("please")
	if p.done() {
		return &Fault{Message: "says nothing"}
	}
	for !p.done() {
		p.join()
		if fault := p.clause(); fault != nil {
			return fault
		}
		if fault := p.separate(); fault != nil {
			return fault
		}
	}
	return p.finish()
}

// separate reads the marks between two clauses. Behind the last one there may be a period, and nothing else.
func (p *parser) separate() *Fault {
	t := p.peek()
	if t.text != "," && t.text != ";" && t.text != "." {
		return nil
	}
	p.at++
	if p.done() && t.text != "." {
		return p.fault(t.span, "must not end with %q", t.text)
	}
	return nil
}

// join reads the word that binds a clause to those before it.
func (p *parser) join() { p.one(p.know.joiners) }

// clause reads one clause. The first of them that begins as the text does is it.
func (p *parser) clause() *Fault {
	if p.done() {
		return p.strange()
	}
	start := p.at
	for _, read := range []func() (bool, *Fault){
		p.deploy, p.slice, p.named, p.serviceType, p.replicas, p.objective, p.throughput, p.resources, p.image,
		p.endpoint, p.sites, p.parameters, p.priority, p.sliceID,
	} {
		p.at = start
		ok, fault := read()
		if ok || fault != nil {
			return fault
		}
	}
	p.at = start
	return p.strange()
}

// strange refuses the next word.
func (p *parser) strange() *Fault {
	t := p.peek()
	if p.done() {
		return p.fault(p.tokens[len(p.tokens)-1].span, "is followed by nothing")
	}
	if isNumber(t) {
		return p.fault(t.span, "%q is not understood here: nothing says what it counts, or in which unit it is", clip(t.text))
	}
	return p.fault(t.span, "%q is not understood here", clip(t.text))
}

func clip(s string) string { return s[:min(len(s), 64)] }

func (p *parser) fault(s span, format string, args ...any) *Fault {
	return &Fault{Offset: s.start, Length: s.end - s.start, Message: fmt.Sprintf(format, args...)}
}

func (p *parser) done() bool { return p.at >= len(p.tokens) }

// peek returns the next token, or one without text at the end.
func (p *parser) peek() token {
	if p.done() {
		return token{}
	}
	return p.tokens[p.at]
}

// since returns the span from a token up to the one that was read last.
func (p *parser) since(start int) span {
	return span{p.tokens[start].start, p.tokens[max(start, p.at-1)].end}
}

// accept reads the words if they are next.
func (p *parser) accept(words string) bool {
	at := p.at
	for word := range strings.FieldsSeq(words) {
		if at >= len(p.tokens) || p.tokens[at].lower != word {
			return false
		}
		at++
	}
	p.at = at
	return true
}

// one reads the longest of the phrases that is next, and returns what it means.
func (p *parser) one(phrases []phrase) (string, bool) {
	start, end, means := p.at, p.at, ""
	for _, candidate := range phrases {
		p.at = start
		if p.accept(candidate.words) && p.at > end {
			end, means = p.at, candidate.means
		}
	}
	p.at = end
	return means, end > start
}

// skip reads one of the phrases if it is next.
func (p *parser) skip(phrases []phrase) bool {
	_, ok := p.one(phrases)
	return ok
}

// say keeps a text that was read since a token. It returns a fault when it was said before.
func (p *parser) say(path string, to *string, value string, start int) *Fault {
	if *to != "" {
		return p.fault(p.since(start), "says the %s a second time", label(path))
	}
	*to = value
	p.wish.spans[path] = p.since(start)
	return nil
}

func label(path string) string {
	_, last, found := strings.Cut(path, ".")
	if !found {
		return path
	}
	return last
}

// name reads a word that is no word of the grammar, or any word in quotes. A Site cannot have one of the words
// for several Sites as its name.
func (p *parser) name() (token, bool) {
	t := p.peek()
	if t.quoted && t.text != "all" && t.text != "both" {
		p.at++
		return t, true
	}
	if t.text == "" || t.quoted || p.know.reserved[t.lower] || isNumber(t) || strings.ContainsAny(t.text[:1], ".,;") {
		return token{}, false
	}
	p.at++
	return t, true
}
