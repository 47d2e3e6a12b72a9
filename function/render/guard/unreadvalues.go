package guard

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/utils"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/intentplane/intentplane/function/intent"
)

// maxUnread is the greatest number of fields in one message.
const maxUnread = 10

// An UnreadError says that an intent sets values which its Blueprint does not read.
type UnreadError struct {
	// Fields of the intent that would have no effect, sorted.
	Fields []string

	blueprint string
}

// Error names the fields and the Blueprint.
func (e *UnreadError) Error() string { return e.In("") }

// In returns the message with a prefix of the fields' paths: "spec.expectation." for each field, or a text with a colon for all.
func (e *UnreadError) In(prefix string) string {
	fields, suffix := e.Fields, ""
	if len(fields) > maxUnread {
		fields, suffix = fields[:maxUnread], fmt.Sprintf(" and %d more", len(fields)-maxUnread)
	}
	separator := ", "
	if strings.HasSuffix(prefix, ".") {
		separator += prefix
	}
	return fmt.Sprintf("%s%s%s: Blueprint %q does not read this value, so it would have no effect: leave it out, or choose a Blueprint that reads it",
		prefix, strings.Join(fields, separator), suffix, e.blueprint)
}

// CheckRead returns an UnreadError when an intent sets a value that the Blueprint of these uses and this name does not read.
func (u *Uses) CheckRead(i intent.Intent, blueprint string) error {
	fields := []string{}
	for _, s := range i.Settings() {
		if !u.Reads(s.Key) {
			fields = append(fields, s.Field)
		}
	}
	if len(fields) == 0 {
		return nil
	}
	return &UnreadError{Fields: fields, blueprint: blueprint}
}

// Reads reports whether a value of the ConfigMap intent has an effect on the rendered objects: a replacement copies it, or a mark uses it.
func (u *Uses) Reads(key string) bool {
	switch key {
	case "image":
		if u.Image {
			return true
		}
	case "replicas":
		if u.Workload && u.Replicas {
			return true
		}
	case "cpu", "memory":
		if u.Workload {
			return true
		}
	case intent.KeyRuntime:
		return u.Workload
	case intent.KeyAutoscaling:
		return u.Workload && u.Replicas
	}
	return u.Values && (u.Whole || slices.Contains(u.Keys, key))
}

// ReadKeys returns the keys of the values that the Blueprint reads, sorted. One key "*" stands for all of them.
func (u *Uses) ReadKeys() []string {
	if u.Values && u.Whole {
		return []string{"*"}
	}
	out := []string{}
	for _, key := range []string{"image", "replicas", "cpu", "memory"} {
		if u.Reads(key) {
			out = append(out, key)
		}
	}
	if u.Values {
		out = append(out, u.Keys...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// recordSource remembers which value of the ConfigMap intent a replacement copies.
func (u *Uses) recordSource(s *types.SourceSelector) {
	if s == nil || s.Kind != "ConfigMap" || s.Name != IntentName {
		return
	}
	path := utils.SmarterPathSplitter(s.FieldPath, ".")
	if len(path) == 0 || path[0] != "data" {
		return
	}
	if len(path) != 2 {
		u.Whole = true
		return
	}
	if key := strings.Trim(path[1], "[]"); !slices.Contains(u.Keys, key) {
		u.Keys = append(u.Keys, key)
		slices.Sort(u.Keys)
	}
}

// recordPatch remembers that a patch changes the ConfigMap intent. It may then be delivered itself, with all of its values.
func (u *Uses) recordPatch(target *types.Selector, documents []*yaml.Node) {
	if target != nil {
		u.Whole = u.Whole || canPatternSelect(target.Kind, "ConfigMap") && canPatternSelect(target.Name, IntentName)
		return
	}
	for _, d := range documents {
		u.Whole = u.Whole || scalarField(d, "kind") == "ConfigMap" && objectName(d) == IntentName
	}
}

// canPatternSelect reports whether a pattern of a patch's target can select a text. An empty pattern selects each, and so does an invalid pattern.
func canPatternSelect(pattern, text string) bool {
	p, err := regexp.Compile("^(?:" + pattern + ")$")
	return pattern == "" || err != nil || p.MatchString(text)
}

// objectName returns the name of an object, or "".
func objectName(n *yaml.Node) string { return metadataField(n, "name") }

// metadataField returns a text in the metadata of an object, or "".
func metadataField(n *yaml.Node, field string) string {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == "metadata" {
			return scalarField(resolveAlias(n.Content[i+1]), field)
		}
	}
	return ""
}

// Bytes returns about how much memory it takes to remember the uses.
func (u *Uses) Bytes() int {
	n := 0
	for _, text := range slices.Concat(u.Keys, u.Workloads) {
		n += len(text)
	}
	return n
}
