// Package sentence parses controlled English. It knows a small grammar and nothing else: a word that has no place in it is an error, never a guess.
package sentence

import (
	"strings"

	"github.com/intentplane/intentplane/apis/measure"
)

// MaxCharacters is the greatest length of a sentence.
const MaxCharacters = 2000

// A Statement has the values that a sentence states, as text. A value that it does not state is empty.
type Statement struct {
	// Service and Type name the service to run. Class is the class of a slice: eMBB, URLLC or mMTC.
	Service, Type, Class string

	// Sites to run at, or a word for several of them, and Selector, the labels that they have.
	Sites    []string
	Selector map[string]string

	// UnquotedSites are the names in Sites that do not stand in quotes.
	UnquotedSites []string

	// Replicas at each Site, or SiteReplicas at single Sites.
	Replicas     string
	SiteReplicas map[string]string

	// Image that runs, and the CPU and Memory of each replica, as quantities.
	Image, CPU, Memory string

	// Endpoints that the service offers.
	Endpoints []Endpoint

	// Parameters for the Blueprint.
	Parameters map[string]string

	// SST, SD and PLMN of the slice.
	SST, SD, PLMN string

	// Priority of the intent.
	Priority string

	// Objectives are the numbers that were given names.
	Objectives []Objective

	spans map[string]span
}

// An Endpoint is a port that the service offers.
type Endpoint struct {
	// Name, Port and Protocol of the endpoint, the protocol in upper case.
	Name, Port, Protocol string
}

// An Objective is a number that was given a name, such as latency under 20 ms.
type Objective struct {
	// Name of the limited metric.
	Name string

	// Comparison is <, <=, > or >=. Empty means that none was said.
	Comparison string

	// Amount that it is compared with.
	Amount measure.Amount
}

// A Fault is a problem of a sentence.
type Fault struct {
	// Offset of the words that are wrong, and their Length, in bytes.
	Offset, Length int

	// Message describes the problem.
	Message string
}

// Fault returns a fault at the words that stated the value of a path.
func (w *Statement) Fault(path, message string) *Fault {
	for {
		if s, ok := w.spans[path]; ok {
			return &Fault{Offset: s.start, Length: s.end - s.start, Message: message}
		}
		if path == "" {
			return &Fault{Message: message}
		}
		path = path[:max(0, strings.LastIndexAny(path, ".["))]
	}
}

// Parse reads a sentence. It returns the first fault instead when there is one.
func Parse(text string) (*Statement, *Fault) {
	tokens, fault := tokenizeText(text)
	if fault != nil {
		return nil, fault
	}
	p := newSentenceParser(tokens)
	if fault := p.readSentence(); fault != nil {
		return nil, fault
	}
	return p.statement, nil
}
