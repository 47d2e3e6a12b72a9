package analysis

import (
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// named has the common fields of all objects.
type named struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name      string `json:"name"`
		Namespace string `json:"namespace"`
	} `json:"metadata"`
}

// kindOf returns the kind and the name of a document's object.
func kindOf(document []byte) (named, error) {
	n := named{}
	return n, errors.Wrap(yaml.Unmarshal(document, &n), "cannot read the object")
}

// decode reads an object. A field below a path that the type does not have is a problem: it cannot be converted.
func (c *converter) decode(document []byte, below string, into any) error {
	b, err := yaml.YAMLToJSONStrict(document)
	if err != nil {
		return errors.Wrapf(err, "cannot read %s", c.object)
	}
	strict, err := kjson.UnmarshalStrict(b, into)
	if err != nil {
		return errors.Wrapf(err, "cannot read %s", c.object)
	}
	for _, e := range strict {
		if at := (kjson.FieldError)(nil); errors.As(e, &at) && strings.HasPrefix(at.FieldPath(), below) {
			c.refusef(at.FieldPath(), "has no counterpart in a check")
		}
	}
	return nil
}
