package sentence

import "strings"

// finish looks at the sentence as a whole.
func (p *parser) finish() *Fault {
	w := p.wish
	if w.Class != "" && w.Type != "" {
		return p.fault(w.spans["type"], "says a type, and the class of the slice is one already")
	}
	if w.Class == "" && len(p.bare) > 0 {
		return p.fault(p.bare[0], "does not say what is limited: say latency, or p99 latency")
	}
	if w.Class != "" && w.Service == "" {
		w.Service = strings.ToLower(w.Class) + "-slice"
	}
	return p.settle()
}

// settle tells the replicas at each Site from those at single ones.
func (p *parser) settle() *Fault {
	if len(p.counts) > 1 {
		return p.settleEach()
	}
	where := p.places
	if len(p.counts) == 1 {
		c := p.counts[0]
		p.wish.Replicas = c.value
		p.wish.spans["replicas"] = c.span
		if c.at != nil && where != nil {
			return p.sitesTwice(c.at.span)
		}
		if c.at != nil {
			where = c.at
		}
	}
	if where != nil {
		p.wish.put(where)
	}
	return nil
}

// put takes what a place says.
func (w *Wish) put(where *place) {
	if where.word != "" {
		w.Sites = append(w.Sites, where.word)
		w.spans["sites"] = where.span
	}
	for _, t := range where.names {
		w.spans[siteItem(len(w.Sites))] = t.span
		w.Sites = append(w.Sites, t.text)
		if !t.quoted {
			w.UnquotedSites = append(w.UnquotedSites, t.text)
		}
	}
}

// settleEach takes several counts, each with Sites of its own.
func (p *parser) settleEach() *Fault {
	w := p.wish
	w.SiteReplicas = map[string]string{}
	for i, c := range p.counts {
		if c.at == nil || len(c.at.names) == 0 {
			return p.fault(p.counts[max(i, 1)].span, "says the replicas a second time: name the Sites of each number")
		}
		if p.places != nil {
			return p.sitesTwice(c.at.span)
		}
		w.put(c.at)
		for _, t := range c.at.names {
			w.SiteReplicas[t.text] = c.value
			w.spans["siteReplicas."+t.text] = c.span
		}
	}
	return nil
}

// sitesTwice refuses the Sites that were said last.
func (p *parser) sitesTwice(s span) *Fault {
	if p.places.start > s.start {
		s = p.places.span
	}
	return p.fault(s, "says the Sites a second time")
}
