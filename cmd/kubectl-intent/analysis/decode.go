package analysis

import (
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"github.com/intentplane/intentplane/cmd/kubectl-intent/analysis/fields"
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

// readKindAndName returns the kind and the name of a document's object.
func readKindAndName(document []byte) (named, error) {
	n := named{}
	return n, errors.Wrap(yaml.Unmarshal(document, &n), "cannot read the object")
}

// decodeDocument reads an object, and refuses and notes its fields below a path by the table of its schema.
func (c *converter) decodeDocument(document []byte, root string, table []fields.Field, into any) error {
	b, err := yaml.YAMLToJSONStrict(document)
	if err != nil {
		return errors.Wrapf(err, "cannot read %s", c.object)
	}
	object := map[string]any{}
	for _, target := range []any{&object, into} {
		if err := kjson.UnmarshalCaseSensitivePreserveInts(b, target); err != nil {
			return errors.Wrapf(err, "cannot read %s", c.object)
		}
	}
	for _, d := range fields.Compare(object, root, table) {
		if d.Treatment == fields.Refused {
			c.refuseFieldf(d.Path, "%s", d.Text)
			continue
		}
		c.addNotef(d.Path, "%s", d.Text)
	}
	return nil
}
