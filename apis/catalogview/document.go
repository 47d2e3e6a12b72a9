package catalogview

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// ConfigMapName is the name of the ConfigMap in which the provider publishes the catalog that its namespace may use. A user who makes an empty
// ConfigMap of that name requests it.
const ConfigMapName = "intentplane-catalog"

// Keys of the ConfigMap.
const (
	KeySites      = "sites.json"
	KeyBlueprints = "blueprints.json"
)

const (
	// maxDocumentBytes is the greatest size of each of the two documents, in bytes. A ConfigMap may have a MiB.
	maxDocumentBytes = 192 << 10

	// maxBlueprintBytes is the size in bytes above which a Blueprint loses its examples, and then its descriptions.
	maxBlueprintBytes = 16 << 10
)

// A List is one of the two documents.
type List[T any] struct {
	// Items that the namespace may use, sorted by their names.
	Items []T `json:"items"`

	// Omitted is the number of further items that the namespace may use, for which the document has no room.
	Omitted int `json:"omitted,omitempty"`
}

// EncodeSites returns the document of Sites. It returns an error if it cannot be encoded.
func EncodeSites(all []Site) (string, error) {
	all = slices.Clone(all)
	slices.SortFunc(all, func(a, b Site) int { return strings.Compare(a.Name, b.Name) })
	return encodeBoundedList(all)
}

// EncodeBlueprints returns the document of Blueprints, large Blueprints without examples and descriptions. It returns an error if it cannot be encoded.
func EncodeBlueprints(all []Blueprint) (string, error) {
	all = slices.Clone(all)
	slices.SortFunc(all, func(a, b Blueprint) int { return strings.Compare(a.Object, b.Object) })
	for i := range all {
		all[i] = all[i].shortenToLimit()
	}
	return encodeBoundedList(all)
}

// encodeBoundedList encodes a list, and omits items at its end that exceed the size limit of the document.
func encodeBoundedList[T any](all []T) (string, error) {
	out, size := List[json.RawMessage]{Items: []json.RawMessage{}}, 0
	for i := range all {
		raw, err := json.Marshal(all[i])
		if err != nil {
			return "", errors.Wrap(err, "cannot encode the published catalog of a namespace")
		}
		if size += len(raw) + len(","); size > maxDocumentBytes {
			out.Omitted = len(all) - i
			break
		}
		out.Items = append(out.Items, raw)
	}
	b, err := json.Marshal(out)
	return string(b), errors.Wrap(err, "cannot encode the published catalog of a namespace")
}

// shortenToLimit returns a Blueprint without its examples if it is large, and without descriptions if it still is.
func (b Blueprint) shortenToLimit() Blueprint {
	if !b.exceedsSizeLimit() {
		return b
	}
	if b.Examples = nil; !b.exceedsSizeLimit() {
		return b
	}
	b.Parameters = slices.Clone(b.Parameters)
	for i := range b.Parameters {
		b.Parameters[i].Description = ""
	}
	return b
}

func (b Blueprint) exceedsSizeLimit() bool {
	raw, err := json.Marshal(b)
	return err != nil || len(raw) > maxBlueprintBytes
}

// Decode returns the items of a document. It returns an error if a user broke it.
func Decode[T any](document string) (List[T], error) {
	out := List[T]{}
	err := json.Unmarshal([]byte(document), &out)
	return out, errors.Wrap(err, "cannot decode the published catalog of a namespace")
}
