package sentence

import (
	"fmt"
	"strings"

	"github.com/intentplane/intentplane/apis/measure"
)

// readObjective reads "p99 latency under 500 ms", "under 20 ms latency", "20 ms latency" and, for a slice, "under 20 ms".
func (p *parser) readObjective() (bool, *Fault) {
	start := p.at
	p.readPhrase(p.know.determiners)
	name, named := p.readPhrase(p.know.metrics)
	if named {
		_ = p.acceptWords("of") || p.acceptWords("is")
	}
	sign, compared := p.readPhrase(p.know.comparisons)
	value, unit, ok := p.readAmount()
	if !ok && named {
		return false, p.faultAtSpan(p.spanSinceToken(start), "needs a number and a unit, such as under 20 ms")
	}
	if !ok {
		return false, nil
	}
	amount, ok := measure.Of(value, unit)
	if !ok && named {
		return false, p.faultAtSpan(p.spanSinceToken(start), "has a unit that cannot be understood: %q", clipForMessage(unit))
	}
	if !ok {
		return false, nil
	}
	if !named {
		return p.readObjectiveName(start, sign, compared, amount)
	}
	p.addObjective(Objective{Name: name, Comparison: sign, Amount: amount}, p.spanSinceToken(start))
	return true, nil
}

// readObjectiveName reads the name behind an amount. A length of time alone is the latency of a slice.
func (p *parser) readObjectiveName(start int, sign string, compared bool, amount measure.Amount) (bool, *Fault) {
	next := p.at
	p.acceptWords("of")
	name, ok := p.readPhrase(p.know.metrics)
	if ok {
		p.addObjective(Objective{Name: name, Comparison: sign, Amount: amount}, p.spanSinceToken(start))
		return true, nil
	}
	p.at = next
	if !compared || amount.Unit != measure.Milliseconds {
		return false, nil
	}
	s := p.spanSinceToken(start)
	p.bare = append(p.bare, s)
	p.addObjective(Objective{Name: "latency", Comparison: sign, Amount: amount}, s)
	return true, nil
}

func (p *parser) addObjective(o Objective, s span) {
	p.statement.spans[fmt.Sprintf("objectives[%d]", len(p.statement.Objectives))] = s
	p.statement.Objectives = append(p.statement.Objectives, o)
}

// readThroughput reads "200 Mbps down" and "downlink of at least 200 Mbps".
func (p *parser) readThroughput() (bool, *Fault) {
	start := p.at
	direction, hasDirection := p.readPhrase(p.know.directions)
	if hasDirection {
		_ = p.acceptWords("throughput")
		_ = p.acceptWords("of")
	}
	sign, _ := p.readPhrase(p.know.comparisons)
	value, unit, ok := p.readAmount()
	amount, isUnit := measure.Of(value, unit)
	if !ok || !isUnit || amount.Unit != measure.Mbps {
		return false, nil
	}
	if !hasDirection {
		if direction, hasDirection = p.readPhrase(p.know.directions); !hasDirection {
			return false, p.faultAtSpan(p.spanSinceToken(start), "needs a direction: say down or up")
		}
	}
	p.addObjective(Objective{Name: direction, Comparison: sign, Amount: amount}, p.spanSinceToken(start))
	return true, nil
}

// readResources reads "2 CPU", "4Gi of memory" and, the other way round, "memory 4Gi".
func (p *parser) readResources() (bool, *Fault) {
	start := p.at
	if _, ok := p.readPhrase(p.know.memoryNouns); ok {
		p.acceptWords("of")
		return p.readMemoryAmount(start)
	}
	if noun, ok := p.readPhrase(p.know.cpuNouns); ok && noun == "" {
		p.acceptWords("of")
		return p.readCPUAmount(start)
	}
	if ok, fault := p.readAmountOfCPU(start); ok || fault != nil {
		return ok, fault
	}
	p.at = start
	ok, fault := p.readMemoryAmount(start)
	if ok && fault == nil && !p.beginsWithMemory(start) {
		next := p.at
		p.acceptWords("of")
		if _, noun := p.readPhrase(p.know.memoryNouns); !noun {
			p.at = next
		}
		p.readPhrase(p.know.perReplica)
	}
	return ok, fault
}

// beginsWithMemory reports whether the clause began with its noun.
func (p *parser) beginsWithMemory(start int) bool {
	lower := p.tokens[start].lower
	return lower == "memory" || lower == "ram"
}

// readAmountOfCPU reads "2 CPU".
func (p *parser) readAmountOfCPU(start int) (bool, *Fault) {
	value, unit, ok := p.readNumber()
	if !ok || unit != "" && unit != "m" {
		return false, nil
	}
	suffix, noun := p.readPhrase(p.know.cpuNouns)
	if !noun || suffix != "" && unit != "" {
		return false, nil
	}
	p.readPhrase(p.know.perReplica)
	return true, p.setTextOnce("resources.cpu", &p.statement.CPU, value+unit+suffix, start)
}

// readCPUAmount reads the amount behind its noun.
func (p *parser) readCPUAmount(start int) (bool, *Fault) {
	value, unit, ok := p.readNumber()
	if !ok || unit != "" && unit != "m" {
		return false, p.faultAtSpan(p.spanSinceToken(start), "needs a number behind it, such as 2 or 500m")
	}
	p.readPhrase(p.know.perReplica)
	return true, p.setTextOnce("resources.cpu", &p.statement.CPU, value+unit, start)
}

// readMemoryAmount reads "4Gi".
func (p *parser) readMemoryAmount(start int) (bool, *Fault) {
	value, unit, ok := p.readAmount()
	suffix, isUnit := memoryUnitSuffix(unit)
	if !ok || !isUnit {
		if p.beginsWithMemory(start) {
			return false, p.faultAtSpan(p.spanSinceToken(start), "needs an amount behind it, such as 4Gi")
		}
		return false, nil
	}
	if p.beginsWithMemory(start) {
		p.readPhrase(p.know.perReplica)
	}
	return true, p.setTextOnce("resources.memory", &p.statement.Memory, value+suffix, start)
}

// readEndpoint reads "port 8080", "UDP port 53 as dns" and "port 53/UDP".
func (p *parser) readEndpoint() (bool, *Fault) {
	_ = p.acceptWords("exposing") || p.acceptWords("expose") || p.acceptWords("on")
	start := p.at
	p.readPhrase(p.know.determiners)
	protocol, _ := p.readPhrase(p.know.protocols)
	if !p.acceptWords("port") {
		return false, nil
	}
	number, behind, slash := strings.Cut(p.peekNextToken().text, "/")
	if !digits.MatchString(number) {
		return false, p.faultAtSpan(p.spanSinceToken(start), "needs a number behind it, such as 8080")
	}
	p.at++
	if slash && protocol != "" {
		return false, p.faultAtSpan(p.spanSinceToken(start), "says the protocol a second time")
	}
	if slash {
		protocol = strings.ToUpper(behind)
	}
	name := "port-" + number
	if p.acceptWords("as") {
		t, ok := p.readNameOrWord(p.know.endpointNames)
		if !ok {
			return false, p.nameExpected()
		}
		name = t.text
	}
	p.statement.spans[fmt.Sprintf("endpoints[%d]", len(p.statement.Endpoints))] = p.spanSinceToken(start)
	p.statement.Endpoints = append(p.statement.Endpoints, Endpoint{Name: name, Port: number, Protocol: protocol})
	return true, nil
}
