// Package admission checks an object of ours as an API server would, with the API server's own code.
package admission

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	schemavalidation "k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"sigs.k8s.io/yaml"
)

// A Problem is one thing that an API server refuses an object for.
type Problem struct {
	// Field that it is about. Empty means the whole object.
	Field string

	// Message describes the problem.
	Message string
}

// String says both.
func (p Problem) String() string {
	if p.Field == "" {
		return p.Message
	}
	return p.Field + ": " + p.Message
}

// A Server checks objects of our kinds. It may be used by several goroutines.
type Server struct {
	kinds map[schema.GroupVersionKind]kind
}

// New returns the Server that knows all of our kinds. It returns an error when our own definitions cannot be used.
func New() (*Server, error) { return ownServer() }

var ownServer = sync.OnceValues(func() (*Server, error) { //nolint:gochecknoglobals // Made once: the definitions are part of the binary.
	all, err := readDefinitions()
	if err != nil {
		return nil, err
	}
	return newAdmissionServer(all)
})

// Of returns a Server that knows the kinds of CustomResourceDefinitions, in YAML, alone. It returns an error for a definition that no API
// server would take.
func Of(documents ...[]byte) (*Server, error) {
	all := make([]*extv1.CustomResourceDefinition, 0, len(documents))
	for _, document := range documents {
		d := &extv1.CustomResourceDefinition{}
		if err := yaml.Unmarshal(document, d); err != nil {
			return nil, errors.Wrap(err, "cannot decode CustomResourceDefinition")
		}
		all = append(all, d)
	}
	return newAdmissionServer(all)
}

func newAdmissionServer(all []*extv1.CustomResourceDefinition) (*Server, error) {
	s := &Server{kinds: map[schema.GroupVersionKind]kind{}}
	for _, d := range all {
		found, err := compileKinds(d)
		if err != nil {
			return nil, errors.Wrapf(err, "cannot use CustomResourceDefinition %q", d.GetName())
		}
		maps.Copy(s.kinds, found)
	}
	return s, nil
}

// Knows says whether objects of a kind can be checked.
func (s *Server) Knows(gvk schema.GroupVersionKind) bool {
	_, ok := s.kinds[gvk]
	return ok
}

// Versions returns the versions of a kind that objects can be checked of, sorted.
func (s *Server) Versions(gk schema.GroupKind) []string {
	out := []string{}
	for gvk := range s.kinds {
		if gvk.GroupKind() == gk {
			out = append(out, gvk.Version)
		}
	}
	slices.Sort(out)
	return out
}

// Kinds returns the kinds that objects can be checked of, sorted by kind and then by group.
func (s *Server) Kinds() []schema.GroupKind {
	out := []schema.GroupKind{}
	for gvk := range s.kinds {
		out = append(out, gvk.GroupKind())
	}
	slices.SortFunc(out, func(a, b schema.GroupKind) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Group, b.Group))
	})
	return slices.Compact(out)
}

// Check returns the problems of an object that a user applies, sorted by field: violations of the schema, rules included, and fields that do
// not exist, which kubectl asks an API server to refuse. Numbers are int64 or float64. An object of another kind has no problems. It changes
// nothing.
func (s *Server) Check(ctx context.Context, object map[string]any) []Problem {
	u := (&unstructured.Unstructured{Object: object}).DeepCopy()
	k, ok := s.kinds[u.GroupVersionKind()]
	if !ok {
		return nil
	}
	out := dropUnknownFields(k, u)
	for _, e := range validateObject(ctx, k, u) {
		// The path of the whole object is nil, which prints so.
		out = append(out, Problem{Field: strings.TrimPrefix(e.Field, "<nil>"), Message: e.ErrorBody()})
	}
	slices.SortStableFunc(out, func(a, b Problem) int { return cmp.Compare(a.Field, b.Field) })
	return slices.Compact(out)
}

// dropUnknownFields drops the fields that do not exist, and returns them.
func dropUnknownFields(k kind, u *unstructured.Unstructured) []Problem {
	track := structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true}
	paths := pruning.PruneWithOptions(u.Object, k.structure, true, track)
	_, _, inMeta, err := objectmeta.GetObjectMetaWithOptions(u.Object, objectmeta.ObjectMetaOptions{ReturnUnknownFieldPaths: true})
	out := []Problem{}
	for _, path := range append(paths, inMeta...) {
		out = append(out, Problem{Field: path, Message: "is not a field of this kind"})
	}
	if err != nil {
		out = append(out, Problem{Field: "metadata", Message: err.Error()})
	}
	return out
}

// validateObject checks in the order of the API server: rules are looked at last, since they trust the schema.
func validateObject(ctx context.Context, k kind, u *unstructured.Unstructured) field.ErrorList {
	defaulting.PruneNonNullableNullsWithoutDefaults(u.Object, k.structure)
	defaulting.Default(u.Object, k.structure)
	errs := checkMetadata(k, u)
	errs = append(errs, schemavalidation.ValidateCustomResource(nil, u.Object, k.schema)...)
	errs = append(errs, listtype.ValidateListSetsAndMaps(nil, k.structure, u.Object)...)
	if slices.ContainsFunc(errs, blocksRules) {
		return errs
	}
	rules := k.rules()
	if rules == nil {
		return errs
	}
	broken, _ := rules.Validate(ctx, nil, k.structure, u.Object, nil, celconfig.RuntimeCELCostBudget)
	return append(errs, broken...)
}

// blocksRules is true for errors that make rules fail or cost too much.
func blocksRules(e *field.Error) bool {
	return slices.Contains([]field.ErrorType{field.ErrorTypeTypeInvalid, field.ErrorTypeRequired, field.ErrorTypeTooLong, field.ErrorTypeTooMany}, e.Type)
}

// checkMetadata fills in the namespace that kubectl would.
func checkMetadata(k kind, u *unstructured.Unstructured) field.ErrorList {
	if _, _, err := objectmeta.GetObjectMeta(u.Object, false); err != nil {
		// It was found before.
		return nil
	}
	if k.namespaced && u.GetNamespace() == "" {
		u.SetNamespace(metav1.NamespaceDefault)
	}
	return validation.ValidateObjectMetaAccessor(u, k.namespaced, validation.NameIsDNSSubdomain, field.NewPath("metadata"))
}
