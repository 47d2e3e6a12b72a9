package measured

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/intentplane/intentplane/apis/gaterecord"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// Bounds of what is written.
const (
	// maxBytes is how large the documents of a revision are together, and maxGateBytes how large that of one Gate is.
	maxBytes, maxGateBytes = 256 << 10, 128 << 10
)

// newDocument returns the document of a Gate: its checks and their results, with what was measured.
func newDocument(g *rolloutv1alpha1.Gate, taken map[string]checkLog) gaterecord.Gate {
	at := g.Status.AtProvider
	out := gaterecord.Gate{Gate: g.GetName(), Position: g.Spec.ForProvider.AskedPosition(), Verdict: at.Verdict}
	for _, c := range g.Spec.ForProvider.Checks {
		one := gaterecord.Check{Name: c.Name, Site: c.Site, Type: c.Type, Threshold: string(c.Threshold), Unit: c.Unit, Phase: rolloutv1alpha1.CheckPending}
		if i := slices.IndexFunc(at.Checks, func(r rolloutv1alpha1.CheckResult) bool { return r.Name == c.Name && r.Site == c.Site }); i >= 0 {
			r := at.Checks[i]
			one.Phase, one.Value, one.Message = r.Phase, r.Value, r.Message
		}
		l := taken[c.Site+"/"+c.Name]
		one.Measurements, one.Omitted = l.taken, l.omitted
		out.Checks = append(out.Checks, one)
	}
	return out
}

// mergeDocument adds the measurements of an earlier document to checks that have none: an earlier provider took them.
func mergeDocument(d gaterecord.Gate, before string) gaterecord.Gate {
	was := gaterecord.Gate{}
	if json.Unmarshal([]byte(before), &was) != nil || was.Position != d.Position {
		return d
	}
	for i := range d.Checks {
		c := &d.Checks[i]
		same := func(o gaterecord.Check) bool { return o.Name == c.Name && o.Site == c.Site }
		if n := slices.IndexFunc(was.Checks, same); n >= 0 && len(c.Measurements) == 0 && c.Omitted == 0 {
			c.Measurements, c.Omitted = was.Checks[n].Measurements, was.Checks[n].Omitted
		}
	}
	return d
}

// encodeDocument encodes a document. Until the text fits, it omits the oldest measurements of the checks that have most, and at last messages.
func encodeDocument(d gaterecord.Gate) (string, error) {
	most := 0
	for i := range d.Checks {
		most = max(most, len(d.Checks[i].Measurements))
	}
	for ; ; most /= 2 {
		omitBeyond(d.Checks, most)
		b, err := json.Marshal(d)
		if err != nil {
			return "", errors.Wrap(err, "cannot encode what a Gate measured")
		}
		if len(b) <= maxGateBytes {
			return string(b), nil
		}
		if most == 0 {
			return encodeWithoutMessages(d)
		}
	}
}

// omitBeyond omits the oldest measurements of each check that has more than some.
func omitBeyond(checks []gaterecord.Check, most int) {
	for i := range checks {
		c := &checks[i]
		n := max(0, len(c.Measurements)-most)
		c.Measurements, c.Omitted = c.Measurements[n:], c.Omitted+n
	}
}

func encodeWithoutMessages(d gaterecord.Gate) (string, error) {
	for i := range d.Checks {
		d.Checks[i].Message = ""
	}
	b, err := json.Marshal(d)
	return string(b), errors.Wrap(err, "cannot encode what a Gate measured")
}

// putDocument puts a document into those of a revision. It drops those of the earliest steps until all fit.
func putDocument(all map[string]string, gate, text string) map[string]string {
	key := gaterecord.KeyOf(gate)
	out := maps.Clone(all)
	if out == nil {
		out = map[string]string{}
	}
	out[key] = text
	size := sizeOf(out)
	if size <= maxBytes {
		return out
	}
	for _, k := range keysByStep(out) {
		if size > maxBytes && k != key {
			size -= len(k) + len(out[k])
			delete(out, k)
		}
	}
	return out
}

// keysByStep returns the keys of documents, those of the earliest steps first. It decodes each document once: a user may have written thousands of them.
func keysByStep(all map[string]string) []string {
	steps := make(map[string]int32, len(all))
	for k, text := range all {
		steps[k] = stepOf(text)
	}
	return slices.SortedFunc(maps.Keys(all), func(a, b string) int { return cmp.Or(cmp.Compare(steps[a], steps[b]), cmp.Compare(a, b)) })
}

func sizeOf(all map[string]string) int {
	n := 0
	for k, v := range all {
		n += len(k) + len(v)
	}
	return n
}

// stepOf returns the step that a document is about, or -1 for what is not a document.
func stepOf(text string) int32 {
	d := gaterecord.Gate{}
	if json.Unmarshal([]byte(text), &d) != nil {
		return -1
	}
	return d.Position.Step
}
