package sentence

import "strings"

// deploy reads "Deploy edge-analytics", or the verb alone when something else than a name comes next.
func (p *parser) deploy() (bool, *Fault) {
	if _, ok := p.one(p.know.verbs); !ok {
		return false, nil
	}
	p.one(p.know.articles)
	start := p.at
	if p.classNext() || isNumber(p.peek()) {
		return true, nil
	}
	if ok, fault := p.named(); ok || fault != nil {
		return ok, fault
	}
	p.at = start
	t, ok := p.name()
	if !ok {
		return false, p.nameless()
	}
	fault := p.say("service", &p.wish.Service, t.text, start)
	if !p.peekPair(p.know.nouns, p.know.namers) {
		p.one(p.know.nouns)
	}
	return true, fault
}

// peekPair says whether a phrase of the first kind comes next and one of the second right behind it.
func (p *parser) peekPair(first, second []phrase) bool {
	start := p.at
	_, a := p.one(first)
	_, b := p.one(second)
	p.at = start
	return a && b
}

func (p *parser) classNext() bool {
	start := p.at
	_, ok := p.one(p.know.classes)
	p.at = start
	return ok
}

func (p *parser) nameless() *Fault {
	if p.done() {
		return p.fault(p.tokens[len(p.tokens)-1].span, "needs a name behind it")
	}
	t := p.peek()
	return p.fault(t.span, "%q is no name: it is a word of the language, or a number", clip(t.text))
}

// named reads "service edge-analytics", "called edge-analytics" and both together.
func (p *parser) named() (bool, *Fault) {
	p.one(p.know.articles)
	_, noun := p.one(p.know.nouns)
	_, namer := p.one(p.know.namers)
	if !noun && !namer {
		return false, nil
	}
	start := p.at
	t, ok := p.name()
	if !ok {
		return false, p.nameless()
	}
	return true, p.say("service", &p.wish.Service, t.text, start)
}

// owner reads "of edge-analytics" and "for the service edge-analytics" behind replicas.
func (p *parser) owner() *Fault {
	if !p.accept("of") && !p.accept("for") {
		return nil
	}
	p.one(p.know.articles)
	p.one(p.know.nouns)
	start := p.at
	t, ok := p.name()
	if !ok {
		return p.nameless()
	}
	return p.say("service", &p.wish.Service, t.text, start)
}

// serviceType reads "of type batch".
func (p *parser) serviceType() (bool, *Fault) {
	p.accept("of")
	if !p.accept("type") {
		return false, nil
	}
	start := p.at
	t, ok := p.name()
	if !ok {
		return false, p.nameless()
	}
	return true, p.say("type", &p.wish.Type, t.text, start)
}

// slice reads "an eMBB slice", and "as eMBB".
func (p *parser) slice() (bool, *Fault) {
	start := p.at
	p.accept("as")
	p.one(p.know.articles)
	class, ok := p.one(p.know.classes)
	if !ok {
		return false, nil
	}
	p.accept("network")
	p.accept("slice")
	return true, p.say("class", &p.wish.Class, class, start)
}

// replicas reads "3 replicas of shop", "3 replicas on edge1", and behind the latter "1 on edge2".
func (p *parser) replicas() (bool, *Fault) {
	start := p.at
	value, unit, ok := p.number()
	if !ok || unit != "" {
		return false, nil
	}
	_, noun := p.one(p.know.replicas)
	if !noun && !p.countsAgain() {
		return false, nil
	}
	p.one(p.know.everySite)
	c := count{span: p.since(start), value: value}
	if fault := p.owner(); fault != nil {
		return false, fault
	}
	where, fault := p.place()
	c.at = where
	p.counts = append(p.counts, c)
	return true, fault
}

// countsAgain says whether the number that was read is one of replicas, as the one before it was.
func (p *parser) countsAgain() bool {
	return len(p.counts) > 0 && p.counts[len(p.counts)-1].at != nil && p.placeNext()
}

func (p *parser) placeNext() bool {
	start := p.at
	_, ok := p.one(p.know.places)
	p.at = start
	return ok
}

// sites reads "on edge1 and edge2".
func (p *parser) sites() (bool, *Fault) {
	where, fault := p.place()
	if where == nil || fault != nil {
		return false, fault
	}
	if p.places != nil {
		return false, p.fault(where.span, "says the Sites a second time")
	}
	p.places = where
	return true, nil
}

// place reads where something is to run. It returns nil when the text says nothing about it.
func (p *parser) place() (*place, *Fault) {
	start := p.at
	if p.portNext() || !p.skip(p.know.places) {
		return nil, nil
	}
	if word, ok := p.one(p.know.manySites); ok {
		return &place{span: p.since(start), word: word}, nil
	}
	p.one(p.know.siteNouns)
	if p.skip(p.know.labelers) {
		return p.labels(start)
	}
	names := p.names()
	if len(names) == 0 {
		return nil, p.nameless()
	}
	return &place{span: p.since(start), names: names}, nil
}

// names reads a list of names: "a", "a and b" or "a, b and c". Behind a comma alone may stand anything, so that it takes an "and"
// to tell a list from the next clause. What stands behind the list is left where it is.
func (p *parser) names() []token {
	first, ok := p.name()
	if !ok {
		return nil
	}
	out, sure, end, closed := []token{first}, 1, p.at, false
	for {
		comma := p.accept(",")
		and := p.accept("and")
		t, ok := p.name()
		if !comma && !and || comma && closed || !ok {
			p.at = end
			return out[:sure]
		}
		out = append(out, t)
		if and {
			sure, end, closed = len(out), p.at, true
		}
	}
}

// portNext says whether a port comes next: that something is on.
func (p *parser) portNext() bool {
	start := p.at
	defer func() { p.at = start }()
	if !p.accept("on") {
		return false
	}
	p.one(p.know.articles)
	p.one(p.know.protocols)
	return p.accept("port")
}

// another reads what stands between two items of a list.
func (p *parser) another() bool {
	comma := p.accept(",")
	return p.accept("and") || comma
}

// labels reads "region=west and tier=edge".
func (p *parser) labels(start int) (*place, *Fault) {
	fault := p.pairs("selector", &p.wish.Selector)
	return &place{span: p.since(start)}, fault
}

// pairs reads "greeting=Welcome and color=blue".
func (p *parser) pairs(path string, to *map[string]string) *Fault {
	if *to == nil {
		*to = map[string]string{}
	}
	for first := true; ; first = false {
		next := p.at
		if !first && !p.another() {
			return nil
		}
		t := p.peek()
		key, value, ok := strings.Cut(t.text, "=")
		if !ok || key == "" || value == "" {
			p.at = next
			if first {
				return p.fault(p.since(max(0, p.at-1)), "must be followed by a name and a value, such as color=blue")
			}
			return nil
		}
		p.at++
		if _, twice := (*to)[key]; twice {
			return p.fault(t.span, "says %s a second time", clip(key))
		}
		(*to)[key] = value
		p.wish.spans[path+"."+key] = t.span
	}
}

// parameters reads "parameters greeting=Welcome and color=blue".
func (p *parser) parameters() (bool, *Fault) {
	p.one(p.know.articles)
	if !p.accept("parameters") && !p.accept("parameter") {
		return false, nil
	}
	return true, p.pairs("parameters", &p.wish.Parameters)
}

// image reads "image nginx:1.27".
func (p *parser) image() (bool, *Fault) {
	_ = p.accept("from") || p.accept("of")
	p.one(p.know.articles)
	if !p.accept("image") {
		return false, nil
	}
	start := p.at
	t := p.peek()
	if t.text == "" {
		return false, p.nameless()
	}
	p.at++
	return true, p.say("image", &p.wish.Image, t.text, start)
}

// priority reads "high priority" and "priority high".
func (p *parser) priority() (bool, *Fault) {
	start := p.at
	p.one(p.know.articles)
	before := p.accept("priority")
	level, ok := p.one(p.know.priorities)
	if !ok || !before && !p.accept("priority") {
		return false, nil
	}
	return true, p.say("priority", &p.wish.Priority, level, start)
}

// sliceID reads "SST 1", "SD 0000a1" and "PLMN 00101".
func (p *parser) sliceID() (bool, *Fault) {
	for word, to := range map[string]*string{"sst": &p.wish.SST, "sd": &p.wish.SD, "plmn": &p.wish.PLMN} {
		if !p.accept(word) {
			continue
		}
		start := p.at
		if p.done() {
			return false, p.nameless()
		}
		p.at++
		return true, p.say("slice."+word, to, p.tokens[start].text, start)
	}
	return false, nil
}
