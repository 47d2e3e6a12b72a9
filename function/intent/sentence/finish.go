package sentence

import "strings"

// finishStatement completes the statement from the sentence as a whole.
func (p *parser) finishStatement() *Fault {
	w := p.statement
	if w.Class != "" && w.Type != "" {
		return p.faultAtSpan(w.spans["type"], "says a type, and the class of the slice is one already")
	}
	if w.Class == "" && len(p.bare) > 0 {
		return p.faultAtSpan(p.bare[0], "does not name the limited value: say latency, or p99 latency")
	}
	if w.Class != "" && w.Service == "" {
		w.Service = strings.ToLower(w.Class) + "-slice"
	}
	return p.resolveReplicas()
}

// resolveReplicas decides whether the counts of replicas are for each Site or for single Sites.
func (p *parser) resolveReplicas() *Fault {
	if len(p.counts) > 1 {
		return p.resolveEachCount()
	}
	location := p.places
	if len(p.counts) == 1 {
		c := p.counts[0]
		p.statement.Replicas = c.value
		p.statement.spans["replicas"] = c.span
		if c.at != nil && location != nil {
			return p.secondSitesFault(c.at.span)
		}
		if c.at != nil {
			location = c.at
		}
	}
	if location != nil {
		p.statement.addSitesOfPlace(location)
	}
	return nil
}

// addSitesOfPlace adds the Sites of a place.
func (w *Statement) addSitesOfPlace(location *place) {
	if location.word != "" {
		w.Sites = append(w.Sites, location.word)
		w.spans["sites"] = location.span
	}
	for _, t := range location.names {
		w.spans[siteItemPath(len(w.Sites))] = t.span
		w.Sites = append(w.Sites, t.text)
		if !t.quoted {
			w.UnquotedSites = append(w.UnquotedSites, t.text)
		}
	}
}

// resolveEachCount sets the replicas of single Sites from several counts, each with Sites of its own.
func (p *parser) resolveEachCount() *Fault {
	w := p.statement
	w.SiteReplicas = map[string]string{}
	for i, c := range p.counts {
		if c.at == nil || len(c.at.names) == 0 {
			return p.faultAtSpan(p.counts[max(i, 1)].span, "says the replicas a second time: name the Sites of each number")
		}
		if p.places != nil {
			return p.secondSitesFault(c.at.span)
		}
		w.addSitesOfPlace(c.at)
		for _, t := range c.at.names {
			w.SiteReplicas[t.text] = c.value
			w.spans["siteReplicas."+t.text] = c.span
		}
	}
	return nil
}

// secondSitesFault refuses the Sites that were said last.
func (p *parser) secondSitesFault(s span) *Fault {
	if p.places.start > s.start {
		s = p.places.span
	}
	return p.faultAtSpan(s, "says the Sites a second time")
}
