// Package schema checks the structure of objects without a cluster: against the schemas of Kubernetes' own kinds, which are built in, and against the
// schemas of custom resource definitions. It looks at types, required fields, fields that do not exist, and keys of lists that occur twice, which
// server-side apply refuses. It runs no CEL rules, and has none of the checks in the code of an API server.
//
// The schemas in kubernetes.json.gz are made from Kubernetes' OpenAPI document (Apache License 2.0), by the command in the folder
// generate. They are validated by kube-openapi, as an API server validates custom resources.
package schema

import (
	"cmp"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	openapierrors "k8s.io/kube-openapi/pkg/validation/errors"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/kube-openapi/pkg/validation/strfmt"
	"k8s.io/kube-openapi/pkg/validation/validate"
)

// A Problem is a problem of one field of an object.
type Problem struct {
	// Field is the path of the field. Empty means the object itself.
	Field string

	// Message describes the problem. It holds no value of the object.
	Message string

	// Unknown is true for a field that the schema does not have. A newer schema may have it.
	Unknown bool

	// Duplicate is true for an item of a list whose key an item before it has. Server-side apply refuses the list, and client-side apply does not.
	Duplicate bool
}

// String returns the field and the problem.
func (p Problem) String() string {
	return strings.TrimPrefix(p.Field+": "+p.Message, ": ")
}

// A Set has the schemas of some kinds. It may be used by several goroutines.
type Set struct {
	kinds  map[schema.GroupVersionKind]*spec.Schema
	scopes map[schema.GroupKind]bool
}

// Namespaced reports whether objects of a kind are namespaced, and whether the set has the kind.
func (s *Set) Namespaced(gk schema.GroupKind) (namespaced, isKnown bool) {
	if s == nil {
		return false, false
	}
	namespaced, isKnown = s.scopes[gk]
	return namespaced, isKnown
}

// ClusterScoped returns the kinds of the set whose definitions are cluster-scoped, sorted.
func (s *Set) ClusterScoped() []schema.GroupKind {
	out := []schema.GroupKind{}
	for gk, namespaced := range s.scopes {
		if !namespaced {
			out = append(out, gk)
		}
	}
	slices.SortFunc(out, func(a, b schema.GroupKind) int { return cmp.Compare(a.String(), b.String()) })
	return out
}

// Check returns the problems of an object, sorted by field. An object of a kind that is not in the set has no problems. It
// returns an error for a schema that cannot be used.
func (s *Set) Check(gvk schema.GroupVersionKind, object map[string]any) (problems []Problem, err error) { //nolint:nonamedreturns // A recovered panic is returned.
	if s == nil || s.kinds[gvk] == nil {
		return nil, nil
	}
	defer func() {
		if p := recover(); p != nil {
			problems, err = nil, errors.Errorf("the schema of %s cannot be used: %.256v", gvk.Kind, p)
		}
	}()
	result := validate.NewSchemaValidator(s.kinds[gvk], nil, "", strfmt.Default).Validate(object)
	for _, e := range result.Errors {
		problems = append(problems, parseProblem(e))
	}
	problems = append(problems, findDuplicates(s.kinds[gvk], object, "")...)
	slices.SortFunc(problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Field, b.Field), cmp.Compare(a.Message, b.Message))
	})
	return slices.Compact(problems), nil
}

func parseProblem(err error) Problem {
	// Every message is "<field> in body <problem>".
	field, message, ok := strings.Cut(err.Error(), " in body ")
	if !ok {
		return Problem{Message: err.Error()}
	}
	v := &openapierrors.Validation{}
	isUnknown := errors.As(err, &v) && v.Code() == openapierrors.UnallowedPropertyCode
	if isUnknown {
		message = "is not a field of this kind"
	}
	return Problem{Field: strings.TrimPrefix(field, "."), Message: message, Unknown: isUnknown}
}
