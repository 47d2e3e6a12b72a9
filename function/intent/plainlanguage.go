package intent

import (
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/intentplane/intentplane/function/intent/document"
	"github.com/intentplane/intentplane/function/intent/objective"
	"github.com/intentplane/intentplane/function/intent/sentence"
	"github.com/intentplane/intentplane/function/intent/telecom"
)

// sentenceIntoDraft reads plain language.
func sentenceIntoDraft(text string, into *draft) (Intent, error) {
	out, fault := parseSentence(text, into)
	if fault == nil {
		return out, nil
	}
	return Intent{}, errors.New("spec.intent: " + fault.Message + markFaultyWords(text, fault) + understoodWithout(text, fault))
}

func parseSentence(text string, into *draft) (Intent, *sentence.Fault) {
	w, fault := sentence.Parse(text)
	if fault != nil {
		return Intent{}, fault
	}
	d, prob := fillFromStatement(w, into)
	if prob != nil {
		return Intent{}, w.Fault(prob.Path, prob.Message)
	}
	out, prob := d.normalizeDraft()
	if prob == nil {
		return out, nil
	}
	// A sentence has no fields that a reader could look up, unless it left the thing out.
	if prob.Path == "service" && w.Service == "" {
		prob.Message = "names nothing that is to run: say Deploy and its name, or called and its name"
	}
	return Intent{}, w.Fault(prob.Path, prob.Message)
}

// fillFromStatement sets the values of a draft that a sentence states.
func fillFromStatement(w *sentence.Statement, d *draft) (*draft, *document.Problem) {
	d.Service, d.Image, d.Resources = w.Service, w.Image, Resources{CPU: w.CPU, Memory: w.Memory}
	d.Sites, d.Selector, d.Parameters = w.Sites, w.Selector, w.Parameters
	d.Slice.SD, d.Slice.PLMN = w.SD, w.PLMN
	if w.Type != "" {
		d.Type = w.Type
	}
	if t, ok := telecom.ServiceTypeOf(w.Class); ok {
		d.Type = t
	}
	if w.Priority != "" {
		d.Priority = w.Priority
	}
	for _, read := range []func(*sentence.Statement) *document.Problem{d.fillReplicas, d.fillEndpoints, d.fillSliceSST, d.fillObjectives} {
		if prob := read(w); prob != nil {
			return nil, prob
		}
	}
	return d, nil
}

func (d *draft) fillReplicas(w *sentence.Statement) *document.Problem {
	if prob := parseWholeInto(&d.Replicas, w.Replicas, "replicas"); prob != nil {
		return prob
	}
	for _, site := range slices.Sorted(maps.Keys(w.SiteReplicas)) {
		var n int32
		if prob := parseWholeInto(&n, w.SiteReplicas[site], document.Child("siteReplicas", site)); prob != nil {
			return prob
		}
		if d.SiteReplicas == nil {
			d.SiteReplicas = map[string]int32{}
		}
		d.SiteReplicas[site] = n
	}
	return nil
}

func (d *draft) fillEndpoints(w *sentence.Statement) *document.Problem {
	for i, e := range w.Endpoints {
		out := Endpoint{Name: e.Name, Protocol: e.Protocol}
		if prob := parseWholeInto(&out.Port, e.Port, document.Item("endpoints", i)); prob != nil {
			return prob
		}
		d.Endpoints = append(d.Endpoints, out)
	}
	return nil
}

func (d *draft) fillSliceSST(w *sentence.Statement) *document.Problem {
	if w.SST == "" {
		return nil
	}
	d.Slice.SST = new(int32)
	return parseWholeInto(d.Slice.SST, w.SST, "slice.sst")
}

func (d *draft) fillObjectives(w *sentence.Statement) *document.Problem {
	for i, o := range w.Objectives {
		if prob := objective.Objective(o).AddTo(&d.QoS, &d.SLOs, document.Item("objectives", i)); prob != nil {
			return prob
		}
	}
	return nil
}

// parseWholeInto reads a whole number in a text. An empty text changes nothing.
func parseWholeInto(target *int32, text, path string) *document.Problem {
	if text == "" {
		return nil
	}
	i, ok := document.ParseWhole(text)
	if !ok {
		return document.Problemf(path, "must be a whole number")
	}
	*target = i
	return nil
}

// markFaultyWords returns the line of the text that a fault is in, with the wrong words marked below it.
func markFaultyWords(text string, fault *sentence.Fault) string {
	if len(text) > sentence.MaxCharacters {
		return ""
	}
	start := strings.LastIndexByte(text[:fault.Offset], '\n') + 1
	line, _, _ := strings.Cut(text[start:], "\n")
	column := utf8.RuneCountInString(text[start:fault.Offset])
	wrong, _, _ := strings.Cut(text[fault.Offset:fault.Offset+fault.Length], "\n")
	if strings.TrimSpace(line) == "" {
		return ""
	}
	excerpt := "\n  " + printableLine(line)
	if wrong == "" {
		return excerpt
	}
	return excerpt + "\n  " + strings.Repeat(" ", column) + strings.Repeat("^", utf8.RuneCountInString(wrong))
}

// printableLine returns a line with a question mark for each character that is not allowed in a sentence.
func printableLine(line string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t', r == '\r':
			return ' '
		case r < ' ', r >= utf8.RuneSelf-1:
			return '?'
		}
		return r
	}, line)
}

// understoodWithout returns how the text would be understood without the wrong words. It is "" if the text would not be understood, or would say something
// else than its author: "and not edge2" is the opposite of "and edge2".
func understoodWithout(text string, fault *sentence.Fault) string {
	end := fault.Offset + fault.Length
	prefix, suffix := text[:fault.Offset], text[end:]
	if fault.Length == 0 || isPartOfWord(prefix, suffix) || sentence.CarriesMeaning(text[fault.Offset:end]) || strings.TrimSpace(prefix) == "" {
		return ""
	}
	out, secondFault := parseSentence(trimConnectors(prefix, suffix)+suffix, newIntentDraft(defaultIntent()))
	if secondFault != nil {
		return ""
	}
	return "\nwithout it, this would be understood: " + string(out.Canonical())
}

// isPartOfWord reports whether the text between two texts is only a part of a word.
func isPartOfWord(prefix, suffix string) bool {
	space := " \t\r\n"
	return prefix != "" && !strings.ContainsAny(prefix[len(prefix)-1:], space) || suffix != "" && !strings.ContainsAny(suffix[:1], space+",.;")
}

// trimConnectors returns a text without the marks and words at its end that connected it to the words behind it.
func trimConnectors(prefix, suffix string) string {
	suffix = strings.TrimSpace(suffix)
	if suffix != "" && !strings.ContainsAny(suffix[:1], ",.;") {
		return prefix
	}
	for {
		trimmed := strings.TrimRight(prefix, " \t\r\n,;")
		trimmed = strings.TrimSuffix(strings.TrimSuffix(trimmed, " with"), " and")
		if trimmed == prefix {
			return prefix
		}
		prefix = trimmed
	}
}
