package rendering

import (
	"context"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/admission"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/manifest"
	"github.com/intentplane/intentplane/function/render"
)

// CheckRules returns an error, which names the file, the object and the field, for objects that break a rule (CEL) of a definition that their
// Blueprint has. The function runs no rules: they may take longer than the deadline of a call. A command has no deadline.
func CheckRules(b *catalogv1alpha1.Blueprint, files tree.Files) error {
	server, err := serverOfBlueprint(b)
	if err != nil {
		return err
	}
	for _, name := range files.Names() {
		// The function's own checks report a document that is not an object.
		object, err := manifest.ParseObject(files[name])
		if err != nil {
			continue
		}
		if problems := server.Check(context.Background(), object); len(problems) > 0 {
			o := unstructured.Unstructured{Object: object}
			return errors.Errorf("%s: %s %q: %s", name, o.GroupVersionKind().GroupKind(), o.GetName(), joinProblems(problems))
		}
	}
	return nil
}

func joinProblems(problems []admission.Problem) string {
	texts := make([]string, 0, len(problems))
	for _, p := range problems {
		texts = append(texts, p.String())
	}
	return strings.Join(texts, "; ")
}

// serverOfBlueprint returns a server with the CustomResourceDefinitions among a Blueprint's files.
func serverOfBlueprint(b *catalogv1alpha1.Blueprint) (*admission.Server, error) {
	definitions := [][]byte{}
	var failed error
	render.EachDefinition(b, func(file []byte) {
		documents, err := manifest.SplitDocuments(file)
		failed = errors.Join(failed, err)
		for _, d := range documents {
			meta := metav1.TypeMeta{}
			if yaml.Unmarshal(d.Text, &meta) == nil && meta.Kind == "CustomResourceDefinition" {
				definitions = append(definitions, d.Text)
			}
		}
	})
	if failed != nil {
		return nil, errors.Wrap(failed, "spec.files")
	}
	s, err := admission.Of(definitions...)
	return s, errors.Wrap(err, "spec.files")
}
