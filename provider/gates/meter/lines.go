package meter

import "slices"

// Bounds of the questions that are under way at the same time.
const (
	// maxPerHost is how many questions one server is asked.
	maxPerHost = 8

	// maxPerNamespace is how many one namespace asks, of whatever servers.
	maxPerNamespace = 16

	// maxTogether is how many there are. Each may hold an answer in memory.
	maxTogether = 32
)

// lines are the questions that wait for their servers, and those that are under way. Each server has its turn, and at a server each
// namespace has: who asks much, or slowly, waits for themselves.
type lines struct {
	hosts map[string]*line
	turns []string

	// under are how many questions are under way, and by whom those of each namespace.
	under int
	by    map[string]int
}

// A line waits for one server.
type line struct {
	turns   []string
	waiting map[string][]*group

	// under are how many questions are under way.
	under int
}

func newLines() *lines { return &lines{hosts: map[string]*line{}, by: map[string]int{}} }

// add a question, for each namespace that wants to know: it is asked when the first of them has its turn.
func (l *lines) add(g *group) {
	at := l.hosts[g.host]
	if at == nil {
		at = &line{waiting: map[string][]*group{}}
		l.hosts[g.host] = at
		l.turns = append(l.turns, g.host)
	}
	for _, ns := range g.namespaces() {
		if len(at.waiting[ns]) == 0 {
			at.turns = append(at.turns, ns)
		}
		at.waiting[ns] = append(at.waiting[ns], g)
	}
}

// next takes the question that is to be asked now, if there is one.
func (l *lines) next() *group {
	if l.under >= maxTogether {
		return nil
	}
	for range l.turns {
		host := l.turns[0]
		l.turns = append(l.turns[1:], host)
		if g := l.hosts[host].next(l.by); g != nil {
			l.begin(g)
			return g
		}
	}
	return nil
}

// next is the question of the namespace whose turn it is, of those that may ask.
func (l *line) next(by map[string]int) *group {
	if l.under >= maxPerHost {
		return nil
	}
	for range l.turns {
		ns := l.turns[0]
		l.turns = append(l.turns[1:], ns)
		if by[ns] < maxPerNamespace {
			g := l.waiting[ns][0]
			g.namespace = ns
			return g
		}
	}
	return nil
}

// begin a question, which waits no longer.
func (l *lines) begin(g *group) {
	l.under++
	l.by[g.namespace]++
	l.hosts[g.host].under++
	l.drop(g)
}

// end a question that was under way.
func (l *lines) end(g *group) {
	l.under--
	if l.by[g.namespace]--; l.by[g.namespace] == 0 {
		delete(l.by, g.namespace)
	}
	l.hosts[g.host].under--
	l.tidy(g.host)
}

// drop a question that waits, if it does.
func (l *lines) drop(gone *group) {
	at := l.hosts[gone.host]
	if at == nil {
		return
	}
	for _, ns := range gone.namespaces() {
		at.waiting[ns] = slices.DeleteFunc(at.waiting[ns], func(g *group) bool { return g == gone })
		if len(at.waiting[ns]) == 0 {
			delete(at.waiting, ns)
			at.turns = slices.DeleteFunc(at.turns, func(turn string) bool { return turn == ns })
		}
	}
	l.tidy(gone.host)
}

// tidy forgets a server that nobody asks.
func (l *lines) tidy(host string) {
	if at := l.hosts[host]; at.under > 0 || len(at.waiting) > 0 {
		return
	}
	delete(l.hosts, host)
	l.turns = slices.DeleteFunc(l.turns, func(turn string) bool { return turn == host })
}
