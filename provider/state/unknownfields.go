package state

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// unmarshalNumbers decodes JSON and keeps numbers as they are written.
func unmarshalNumbers(content []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(content))
	d.UseNumber()
	return errors.Wrap(d.Decode(into), "cannot decode JSON")
}

// toJSONObject returns the JSON object of a value.
func toJSONObject(v any) (map[string]any, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, errors.Wrap(err, "cannot encode state")
	}
	out := map[string]any{}
	return out, unmarshalNumbers(b, &out)
}

// understoodPart returns the part of a stored file that this version knows, by decoding it into the type of the file.
func understoodPart(stored map[string]any, into any) (map[string]any, error) {
	b, err := json.Marshal(stored)
	if err != nil {
		return nil, errors.Wrap(err, "cannot encode state")
	}
	if err := json.Unmarshal(b, into); err != nil {
		return nil, errors.Wrap(err, "cannot decode state")
	}
	return toJSONObject(into)
}

// retainUnknown adds the fields of a stored object that this version does not understand to the next object. Where the objects describe
// different revisions, nested fields are not about the next one.
func retainUnknown(next, stored, understood map[string]any) {
	for name, storedValue := range stored {
		understoodValue, isKnown := understood[name]
		if !isKnown {
			if _, isPresent := next[name]; !isPresent {
				next[name] = storedValue
			}
			continue
		}
		if nextValue, isPresent := next[name]; isPresent {
			retainUnknownBelow(nextValue, storedValue, understoodValue, isOfRevision(name) && !isSameRevision(next, stored))
		}
	}
}

func retainUnknownBelow(next, stored, understood any, isOfOther bool) {
	if isOfOther {
		return
	}
	switch stored := stored.(type) {
	case map[string]any:
		next, isMap := next.(map[string]any)
		understood, isMapToo := understood.(map[string]any)
		if isMap && isMapToo {
			retainUnknown(next, stored, understood)
		}
	case []any:
		retainUnknownItems(next, stored, understood)
	}
}

// retainUnknownItems retains the fields of items of a list. Items are the same if they have the same name or number.
func retainUnknownItems(next any, stored []any, understood any) {
	storedItems, understoodItems := objectsInList(stored), objectsInList(understood)
	places := map[string]int{}
	for i, item := range storedItems[:min(len(storedItems), len(understoodItems))] {
		places[itemIdentity(item)] = i
	}
	delete(places, "")
	for _, item := range objectsInList(next) {
		if i, isKnown := places[itemIdentity(item)]; isKnown {
			retainUnknown(item, storedItems[i], understoodItems[i])
		}
	}
}

func objectsInList(list any) []map[string]any {
	items, _ := list.([]any)
	var out []map[string]any
	for _, item := range items {
		if m, isMap := item.(map[string]any); isMap {
			out = append(out, m)
		}
	}
	return out
}

// itemIdentity returns the identity of an item of a list: an event, a directory, a Site, a repository or a revision. It returns "" for an item
// without an identity.
func itemIdentity(item map[string]any) string {
	for _, name := range []string{"seq", "path", "site", "delivery", "number", "revision"} {
		if value, isPresent := item[name]; isPresent {
			return fmt.Sprint(name, value, item["branch"])
		}
	}
	return ""
}

// isOfRevision reports whether a field of a state is about its current revision.
func isOfRevision(name string) bool {
	return name == "current" || name == "cursor" || name == "verdict"
}

// isSameRevision reports whether two states have the same current revision.
func isSameRevision(a, b map[string]any) bool {
	return reflect.DeepEqual(revisionNumber(a), revisionNumber(b))
}

func revisionNumber(state map[string]any) any {
	current, _ := state["current"].(map[string]any)
	return current["number"]
}
