package sentence

import (
	"fmt"
	"strings"

	"github.com/intentplane/intentplane/apis/measure"
)

// objective reads "p99 latency under 500 ms", "under 20 ms latency", "20 ms latency" and, for a slice, "under 20 ms".
func (p *parser) objective() (bool, *Fault) {
	start := p.at
	p.one(p.know.articles)
	name, named := p.one(p.know.metrics)
	if named {
		_ = p.accept("of") || p.accept("is")
	}
	sign, compared := p.one(p.know.comparisons)
	value, unit, ok := p.amount()
	if !ok && named {
		return false, p.fault(p.since(start), "needs a number and a unit, such as under 20 ms")
	}
	if !ok {
		return false, nil
	}
	amount, ok := measure.Of(value, unit)
	if !ok && named {
		return false, p.fault(p.since(start), "has a unit that cannot be understood: %q", clip(unit))
	}
	if !ok {
		return false, nil
	}
	if !named {
		return p.unnamed(start, sign, compared, amount)
	}
	p.aim(Objective{Name: name, Comparison: sign, Amount: amount}, p.since(start))
	return true, nil
}

// unnamed reads the name behind an amount. A length of time alone is the latency of a slice.
func (p *parser) unnamed(start int, sign string, compared bool, amount measure.Amount) (bool, *Fault) {
	next := p.at
	p.accept("of")
	name, ok := p.one(p.know.metrics)
	if ok {
		p.aim(Objective{Name: name, Comparison: sign, Amount: amount}, p.since(start))
		return true, nil
	}
	p.at = next
	if !compared || amount.Unit != measure.Milliseconds {
		return false, nil
	}
	s := p.since(start)
	p.bare = append(p.bare, s)
	p.aim(Objective{Name: "latency", Comparison: sign, Amount: amount}, s)
	return true, nil
}

func (p *parser) aim(o Objective, s span) {
	p.wish.spans[fmt.Sprintf("objectives[%d]", len(p.wish.Objectives))] = s
	p.wish.Objectives = append(p.wish.Objectives, o)
}

// throughput reads "200 Mbps down" and "downlink of at least 200 Mbps".
func (p *parser) throughput() (bool, *Fault) {
	start := p.at
	direction, before := p.one(p.know.directions)
	if before {
		_ = p.accept("throughput")
		_ = p.accept("of")
	}
	sign, _ := p.one(p.know.comparisons)
	value, unit, ok := p.amount()
	amount, known := measure.Of(value, unit)
	if !ok || !known || amount.Unit != measure.Mbps {
		return false, nil
	}
	if !before {
		if direction, before = p.one(p.know.directions); !before {
			return false, p.fault(p.since(start), "needs a direction: say down or up")
		}
	}
	p.aim(Objective{Name: direction, Comparison: sign, Amount: amount}, p.since(start))
	return true, nil
}

// resources reads "2 CPU", "4Gi of memory" and, the other way round, "memory 4Gi".
func (p *parser) resources() (bool, *Fault) {
	start := p.at
	if _, ok := p.one(p.know.memoryNouns); ok {
		p.accept("of")
		return p.memory(start)
	}
	if noun, ok := p.one(p.know.cpuNouns); ok && noun == "" {
		p.accept("of")
		return p.cpuAmount(start)
	}
	if ok, fault := p.cpu(start); ok || fault != nil {
		return ok, fault
	}
	p.at = start
	ok, fault := p.memory(start)
	if ok && fault == nil && !p.isMemory(start) {
		next := p.at
		p.accept("of")
		if _, noun := p.one(p.know.memoryNouns); !noun {
			p.at = next
		}
		p.one(p.know.perReplica)
	}
	return ok, fault
}

// isMemory says whether the clause began with its noun.
func (p *parser) isMemory(start int) bool {
	lower := p.tokens[start].lower
	return lower == "memory" || lower == "ram"
}

// cpu reads "2 CPU".
func (p *parser) cpu(start int) (bool, *Fault) {
	value, unit, ok := p.number()
	if !ok || unit != "" && unit != "m" {
		return false, nil
	}
	suffix, noun := p.one(p.know.cpuNouns)
	if !noun || suffix != "" && unit != "" {
		return false, nil
	}
	p.one(p.know.perReplica)
	return true, p.say("resources.cpu", &p.wish.CPU, value+unit+suffix, start)
}

// cpuAmount reads the amount behind its noun.
func (p *parser) cpuAmount(start int) (bool, *Fault) {
	value, unit, ok := p.number()
	if !ok || unit != "" && unit != "m" {
		return false, p.fault(p.since(start), "needs a number behind it, such as 2 or 500m")
	}
	p.one(p.know.perReplica)
	return true, p.say("resources.cpu", &p.wish.CPU, value+unit, start)
}

// memory reads "4Gi".
func (p *parser) memory(start int) (bool, *Fault) {
	value, unit, ok := p.amount()
	suffix, known := memoryUnit(unit)
	if !ok || !known {
		if p.isMemory(start) {
			return false, p.fault(p.since(start), "needs an amount behind it, such as 4Gi")
		}
		return false, nil
	}
	if p.isMemory(start) {
		p.one(p.know.perReplica)
	}
	return true, p.say("resources.memory", &p.wish.Memory, value+suffix, start)
}

// endpoint reads "port 8080", "UDP port 53 as dns" and "port 53/UDP".
func (p *parser) endpoint() (bool, *Fault) {
	_ = p.accept("exposing") || p.accept("expose") || p.accept("on")
	start := p.at
	p.one(p.know.articles)
	protocol, _ := p.one(p.know.protocols)
	if !p.accept("port") {
		return false, nil
	}
	number, behind, slash := strings.Cut(p.peek().text, "/")
	if !digits.MatchString(number) {
		return false, p.fault(p.since(start), "needs a number behind it, such as 8080")
	}
	p.at++
	if slash && protocol != "" {
		return false, p.fault(p.since(start), "says the protocol a second time")
	}
	if slash {
		protocol = strings.ToUpper(behind)
	}
	name := "port-" + number
	if p.accept("as") {
		t, ok := p.name()
		if !ok {
			return false, p.nameless()
		}
		name = t.text
	}
	p.wish.spans[fmt.Sprintf("endpoints[%d]", len(p.wish.Endpoints))] = p.since(start)
	p.wish.Endpoints = append(p.wish.Endpoints, Endpoint{Name: name, Port: number, Protocol: protocol})
	return true, nil
}
