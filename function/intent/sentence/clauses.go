package sentence

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// readDeployClause reads "Deploy edge-analytics", or the verb alone when something else than a name comes next.
func (p *parser) readDeployClause() (bool, *Fault) {
	if _, ok := p.readPhrase(p.know.verbs); !ok {
		return false, nil
	}
	p.skipAttributes()
	start := p.at
	if p.isPhraseNext(p.know.classes) || isNumberToken(p.peekNextToken()) {
		return true, nil
	}
	if ok, fault := p.readServiceName(); ok || fault != nil {
		return ok, fault
	}
	p.at = start
	t, ok := p.readNameToken()
	if !ok {
		return false, p.nameExpected()
	}
	fault := p.setTextOnce("service", &p.statement.Service, t.text, start)
	if !p.isPhrasePairNext(p.know.nouns, p.know.namers) {
		p.readPhrase(p.know.nouns)
	}
	return true, fault
}

// skipAttributes reads a determiner, and adjectives if a noun or a class follows, as "my new" before "app", or if no noun follows, as in "the latest on edge1".
// Elsewhere an adjective is an error: "the previous shop" may be another version of it.
func (p *parser) skipAttributes() {
	p.skipPhrase(p.know.determiners)
	start := p.at
	for p.skipPhrase(p.know.adjectives) {
	}
	if !p.isAtClauseEnd() && !p.isPhraseNext(p.know.nouns) && !p.isPhraseNext(p.know.otherNouns) && !p.isPhraseNext(p.know.classes) {
		p.at = start
	}
}

// isPhrasePairNext reports whether a phrase of the first kind comes next and one of the second right behind it.
func (p *parser) isPhrasePairNext(first, second []phrase) bool {
	start := p.at
	_, a := p.readPhrase(first)
	_, b := p.readPhrase(second)
	p.at = start
	return a && b
}

// isPhraseNext reports whether one of the phrases is next.
func (p *parser) isPhraseNext(phrases []phrase) bool {
	start := p.at
	_, ok := p.readPhrase(phrases)
	p.at = start
	return ok
}

func (p *parser) nameExpected() *Fault {
	if t, ok := p.lastReadNoun(); ok {
		return p.faultAtSpan(t.span, "%q is not a name by itself: it is a word of the grammar; if it is the name, quote it: %[1]q", t.text)
	}
	if p.isAtTextEnd() {
		return p.faultAtSpan(p.tokens[len(p.tokens)-1].span, "needs a name behind it")
	}
	t := p.peekNextToken()
	return p.faultAtSpan(t.span, "%q cannot be a name: it is a word of the grammar, or a number%s", clipForMessage(t.text), p.hintToQuote(t))
}

// imageExpected refuses a word that names no image by itself, as the tag in "image latest" does.
func (p *parser) imageExpected() *Fault {
	t := p.peekNextToken()
	return p.faultAtSpan(t.span, "%q is not an image by itself; if it is the name of one, quote it: %[1]q", clipForMessage(t.text))
}

// lastReadNoun returns the noun that was read last, as in "deploy my app on edge1" and "on our site", where a name has to follow, or a determiner or an adjective
// without a noun, as in "deploy my on edge1".
func (p *parser) lastReadNoun() (token, bool) {
	if p.at == 0 {
		return token{}, false
	}
	t := p.tokens[p.at-1]
	isAmong := func(tables ...[]phrase) bool {
		return slices.ContainsFunc(joinPhraseTables(tables...), func(n phrase) bool { return n.words == t.lower })
	}
	return t, isAmong(p.know.nouns, p.know.siteNouns) || p.isAtClauseEnd() && isAmong(p.know.determiners, p.know.adjectives)
}

// isAtClauseEnd reports whether the text ends here, or goes on with a mark or a word that begins another clause.
func (p *parser) isAtClauseEnd() bool {
	return p.isAtTextEnd() || slices.Contains([]string{".", ",", ";"}, p.peekNextToken().text) || p.isPhraseNext(p.know.places) || p.isPhraseNext(p.know.joiners)
}

// hintToQuote says how to write a word of the grammar as a name. It is "" for a word that cannot be a name.
func (p *parser) hintToQuote(t token) string {
	if !p.know.reserved[t.lower] || isSiteAlias(t.lower) {
		return ""
	}
	return fmt.Sprintf("; if it is the name, quote it: %q", t.text)
}

// readServiceName reads "service edge-analytics", "called edge-analytics" and both together.
func (p *parser) readServiceName() (bool, *Fault) {
	p.skipAttributes()
	_, noun := p.readPhrase(p.know.nouns)
	_, namer := p.readPhrase(p.know.namers)
	if !noun && !namer {
		return false, nil
	}
	return true, p.readNameInto("service", &p.statement.Service)
}

// readNameInto reads the name that has to follow.
func (p *parser) readNameInto(path string, target *string) *Fault {
	start := p.at
	t, ok := p.readNameToken()
	if !ok {
		return p.nameExpected()
	}
	return p.setTextOnce(path, target, t.text, start)
}

// readReplicasOwner reads "of edge-analytics" and "for the service edge-analytics" behind replicas.
func (p *parser) readReplicasOwner() *Fault {
	if !p.acceptWords("of") && !p.acceptWords("for") {
		return nil
	}
	p.skipAttributes()
	p.readPhrase(p.know.nouns)
	return p.readNameInto("service", &p.statement.Service)
}

// readServiceType reads "of type batch".
func (p *parser) readServiceType() (bool, *Fault) {
	p.acceptWords("of")
	if !p.acceptWords("type") {
		return false, nil
	}
	start := p.at
	t, ok := p.readNameOrWord(p.know.typeNames)
	if !ok {
		return true, p.nameExpected()
	}
	return true, p.setTextOnce("type", &p.statement.Type, t.text, start)
}

// readSliceClass reads "an eMBB slice", and "as eMBB".
func (p *parser) readSliceClass() (bool, *Fault) {
	start := p.at
	p.acceptWords("as")
	p.skipAttributes()
	class, ok := p.readPhrase(p.know.classes)
	if !ok {
		return false, nil
	}
	p.acceptWords("network")
	p.acceptWords("slice")
	return true, p.setTextOnce("class", &p.statement.Class, class, start)
}

// readReplicas reads "3 replicas of shop", "3 replicas on edge1", and behind the latter "1 on edge2".
func (p *parser) readReplicas() (bool, *Fault) {
	start := p.at
	value, unit, ok := p.readNumber()
	if !ok || unit != "" {
		return false, nil
	}
	_, noun := p.readPhrase(p.know.replicas)
	if !noun && !p.isFurtherCount() {
		return false, nil
	}
	p.readPhrase(p.know.everySite)
	c := count{span: p.spanSinceToken(start), value: value}
	if fault := p.readReplicasOwner(); fault != nil {
		return false, fault
	}
	location, fault := p.readSitePlace()
	c.at = location
	p.counts = append(p.counts, c)
	return true, fault
}

// isFurtherCount reports whether the number that was read counts replicas, as the previous number did.
func (p *parser) isFurtherCount() bool {
	return len(p.counts) > 0 && p.counts[len(p.counts)-1].at != nil && p.isPhraseNext(p.know.places)
}

// readSitesClause reads "on edge1 and edge2".
func (p *parser) readSitesClause() (bool, *Fault) {
	location, fault := p.readSitePlace()
	if location == nil || fault != nil {
		return false, fault
	}
	if p.places != nil {
		return false, p.faultAtSpan(location.span, "says the Sites a second time")
	}
	p.places = location
	return true, nil
}

// readSitePlace reads where the service is to run. It returns nil when no place comes next.
func (p *parser) readSitePlace() (*place, *Fault) {
	start := p.at
	if p.isPortNext() || !p.skipPhrase(p.know.places) {
		return nil, nil
	}
	if word, ok := p.readPhrase(p.know.manySites); ok {
		p.skipSiteNoun()
		return &place{span: p.spanSinceToken(start), word: word}, nil
	}
	p.skipSiteNoun()
	if p.skipPhrase(p.know.labelers) {
		return p.readSiteLabels(start)
	}
	names := p.readNameList()
	if len(names) == 0 {
		return nil, p.nameExpected()
	}
	return &place{span: p.spanSinceToken(start), names: names}, nil
}

// skipSiteNoun reads the noun before names of Sites, as in "our sites edge1 and edge2", or behind an alias of several: "all of our sites". Without the noun, a
// determiner does not belong there: "the edge" may be more than a Site with that name.
func (p *parser) skipSiteNoun() {
	start := p.at
	p.acceptWords("of")
	p.readPhrase(p.know.determiners)
	if !p.skipPhrase(p.know.siteNouns) {
		p.at = start
	}
}

// readNameList reads a list of names: "a", "a and b" or "a, b and c". Behind a comma alone may stand anything, so that it takes an "and"
// to distinguish a list from the next clause. Words behind the list are not read.
func (p *parser) readNameList() []token {
	first, ok := p.readNameToken()
	if !ok {
		return nil
	}
	out, sure, end, closed := []token{first}, 1, p.at, false
	for {
		comma := p.acceptWords(",")
		and := p.acceptWords("and")
		t, ok := p.readNameToken()
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

// isPortNext reports whether a port comes next, as in "on port 80", which is not a place.
func (p *parser) isPortNext() bool {
	start := p.at
	defer func() { p.at = start }()
	if !p.acceptWords("on") {
		return false
	}
	p.readPhrase(p.know.determiners)
	p.readPhrase(p.know.protocols)
	return p.acceptWords("port")
}

// readSeparator reads the separator between two items of a list.
func (p *parser) readSeparator() bool {
	comma := p.acceptWords(",")
	return p.acceptWords("and") || comma
}

// readSiteLabels reads "region=west and tier=edge".
func (p *parser) readSiteLabels(start int) (*place, *Fault) {
	fault := p.readKeyValuePairs("selector", &p.statement.Selector)
	return &place{span: p.spanSinceToken(start)}, fault
}

// readKeyValuePairs reads "greeting=Welcome and color=blue".
func (p *parser) readKeyValuePairs(path string, target *map[string]string) *Fault {
	if *target == nil {
		*target = map[string]string{}
	}
	for first := true; ; first = false {
		start := p.at
		if !first && !p.readSeparator() {
			return nil
		}
		t := p.peekNextToken()
		key, value, ok := strings.Cut(t.text, "=")
		if !ok || key == "" || value == "" {
			p.at = start
			if first {
				return p.faultAtSpan(p.spanSinceToken(max(0, p.at-1)), "must be followed by a name and a value, such as color=blue")
			}
			return nil
		}
		p.at++
		if _, twice := (*target)[key]; twice {
			return p.faultAtSpan(t.span, "says %s a second time", clipForMessage(key))
		}
		(*target)[key] = value
		p.statement.spans[path+"."+key] = t.span
	}
}

// readParameters reads "parameters greeting=Welcome and color=blue".
func (p *parser) readParameters() (bool, *Fault) {
	p.readPhrase(p.know.determiners)
	if !p.acceptWords("parameters") && !p.acceptWords("parameter") {
		return false, nil
	}
	return true, p.readKeyValuePairs("parameters", &p.statement.Parameters)
}

// versionPattern matches a version, which is the tag of an image, and not its name.
var versionPattern = regexp.MustCompile(`^(?:v[0-9]+|v?[0-9]+(?:[.][0-9]+)+(?:[-+_.][0-9a-z.+_-]*)?)$`)

// readImageClause reads "image nginx:1.27".
func (p *parser) readImageClause() (bool, *Fault) {
	_ = p.acceptWords("from") || p.acceptWords("of")
	p.readPhrase(p.know.determiners)
	if !p.acceptWords("image") {
		return false, nil
	}
	if t := p.peekNextToken(); p.know.reserved[t.lower] || isNumberToken(t) || versionPattern.MatchString(t.lower) {
		return true, p.imageExpected()
	}
	return true, p.readTokenInto("image", &p.statement.Image)
}

// readTokenInto reads the next token, which may be any token.
func (p *parser) readTokenInto(path string, target *string) *Fault {
	start := p.at
	if p.isAtTextEnd() {
		return p.nameExpected()
	}
	p.at++
	return p.setTextOnce(path, target, p.tokens[start].text, start)
}

// readPriority reads "high priority" and "priority high".
func (p *parser) readPriority() (bool, *Fault) {
	start := p.at
	p.readPhrase(p.know.determiners)
	isLeading := p.acceptWords("priority")
	level, ok := p.readPhrase(p.know.priorities)
	if !ok || !isLeading && !p.acceptWords("priority") {
		return false, nil
	}
	return true, p.setTextOnce("priority", &p.statement.Priority, level, start)
}

// readSliceID reads "SST 1", "SD 0000a1" and "PLMN 00101".
func (p *parser) readSliceID() (bool, *Fault) {
	for word, target := range map[string]*string{"sst": &p.statement.SST, "sd": &p.statement.SD, "plmn": &p.statement.PLMN} {
		if p.acceptWords(word) {
			return true, p.readTokenInto("slice."+word, target)
		}
	}
	return false, nil
}
