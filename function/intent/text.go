package intent

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/intentplane/intentplane/function/intent/document"
	"github.com/intentplane/intentplane/function/intent/sentence"
	"github.com/intentplane/intentplane/function/intent/telecom"
)

// A form is a way to write an intent as a document.
type form struct {
	name string

	// fields that no other form has.
	fields []string

	read func(*draft, document.Node) *document.Problem
}

func knownForms() []form {
	return []form{
		{name: serviceForm, read: readService, fields: []string{
			"site", "sites", "selector", "replicas", "siteReplicas", "image", "resources", "runtime", "endpoints", "parameters", "slos", "type",
		}},
		{name: telecom.FormTMF921, read: telecomInto(telecom.ReadTMF921), fields: []string{"intentId", "name", "description", "targetSite", "lifecycle", "metadata"}},
		{name: telecom.FormExpectation, read: telecomInto(telecom.ReadExpectation), fields: []string{
			"intentExpectationId", "intentExpectationType", "intentExpectationContext", "intentExpectationTarget", "intentExpectationObject",
		}},
		{name: telecom.FormExpectations, read: telecomInto(telecom.ReadExpectations), fields: []string{"intentExpectations"}},
	}
}

// yamlStart matches the beginning of a YAML text that is not plain language: a field, or a mark that only YAML has.
var yamlStart = regexp.MustCompile(`^([-%&*!|>"'\[]|[A-Za-z0-9_.@/-]+[ \t]*:([ \t]|$))`)

// FromText reads the text of a claim's spec.intent. It may be a service intent as JSON or YAML, such as
//
//	{"service": "edge-analytics", "sites": ["edge1", "edge2"], "replicas": {"edge1": 2, "edge2": 1}}
//
// an intent as TMF921 or 3GPP TS 28.312 write it, or plain language, such as
//
//	Deploy edge-analytics on edge1 with 2 replicas
//
// It returns an error with the position in the text for anything else: text that is in no form or in two, an unknown field or a
// duplicate field, a word that is not of the grammar, a value of the wrong type, and a value that FromExpectation would refuse.
func FromText(text string) (Intent, error) {
	return textIntoDraft(text, newIntentDraft(defaultIntent()))
}

// textIntoDraft reads a text into a draft.
func textIntoDraft(text string, into *draft) (Intent, error) {
	if err := document.CheckText(text); err != nil {
		return Intent{}, err
	}
	trimmed := strings.TrimSpace(text)
	switch {
	case strings.HasPrefix(trimmed, "{"):
		d, err := document.FromJSON(text)
		return readDocument(d, err, into)
	case json.Valid([]byte(trimmed)):
		return Intent{}, errors.New(`spec.intent: must be a JSON object, such as {"service": "edge-analytics", "site": "edge1"}`)
	case beginsAsYAML(text):
		d, err := document.FromYAML(text)
		return readDocument(d, err, into)
	}
	return sentenceIntoDraft(text, into)
}

// UnquotedSites returns the Sites that plain language names without quotes: any word of a sentence may have become such a name by mistake. It
// returns none for a document, since the grammar has neither the braces of JSON nor the fields of YAML.
func UnquotedSites(text string) []string {
	w, fault := sentence.Parse(text)
	if fault != nil {
		return nil
	}
	return w.UnquotedSites
}

// beginsAsYAML reports whether the first line that is neither empty nor a comment is one of YAML.
func beginsAsYAML(text string) bool {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		return yamlStart.MatchString(line)
	}
	return false
}

func readDocument(d *document.Document, err error, wanted *draft) (Intent, error) {
	if err != nil {
		return Intent{}, err
	}
	f, prob := formOfDocument(d.Root)
	if prob != nil {
		return Intent{}, d.Refuse(prob)
	}
	if prob := f.read(wanted, d.Root); prob != nil {
		return Intent{}, d.Refuse(prob)
	}
	out, prob := wanted.normalizeDraft()
	if prob != nil {
		return Intent{}, d.Refuse(prob)
	}
	return out, nil
}

// formOfDocument returns the form that a document has by its fields. It returns a problem when they belong to two forms.
func formOfDocument(root document.Node) (form, *document.Problem) {
	members, prob := root.Members()
	if prob != nil {
		return form{}, prob
	}
	found, because := formOfShape(members), ""
	for _, m := range members {
		f, ok := formWithField(m.Name)
		if !ok {
			continue
		}
		if because != "" && f.name != found.name {
			return form{}, document.Problemf(m.Node.Path, "is a field of a %s, and %s one of a %s: set only one of them", f.name, because, found.name)
		}
		found, because = f, m.Name
	}
	return found, nil
}

// formOfShape returns the form of a document whose fields exist in several forms: it is a service intent unless its service is an object.
func formOfShape(members []document.Member) form {
	for _, m := range members {
		if _, ok := m.Node.Value.([]document.Member); ok && m.Name == "service" {
			return knownForms()[1]
		}
	}
	return knownForms()[0]
}

func formWithField(field string) (form, bool) {
	for _, f := range knownForms() {
		if slices.Contains(f.fields, field) {
			return f, true
		}
	}
	return form{}, false
}
