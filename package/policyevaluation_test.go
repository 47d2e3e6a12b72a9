package packages

import (
	"context"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/cel-go/cel"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	admissioncel "k8s.io/apiserver/pkg/admission/plugin/cel"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/cel/environment"
	"sigs.k8s.io/yaml"
)

// An expression is a condition, a validation or a variable of a policy.
type expression struct {
	name, text string
	types      []*cel.Type
}

func (e expression) GetName() string          { return e.name }
func (e expression) GetExpression() string    { return e.text }
func (e expression) ReturnTypes() []*cel.Type { return e.types }

// A policy is a compiled policy of examples/policies.
type policy struct {
	admissionregistrationv1.ValidatingAdmissionPolicy

	compiler                *admissioncel.CompositedCompiler
	conditions, validations admissioncel.ConditionEvaluator
}

// readPolicies compiles the policies of examples/policies as the API server does.
func readPolicies(t *testing.T) []policy {
	t.Helper()
	files, err := filepath.Glob("../examples/policies/*.yaml")
	must(t, err)
	out := []policy{}
	for _, file := range files {
		for _, document := range documents(t, file) {
			p := policy{}
			must(t, yaml.Unmarshal(document, &p.ValidatingAdmissionPolicy))
			if p.Kind == "ValidatingAdmissionPolicy" {
				out = append(out, compilePolicy(t, p))
			}
		}
	}
	return out
}

func compilePolicy(t *testing.T, p policy) policy {
	t.Helper()
	var err error
	p.compiler, err = admissioncel.NewCompositedCompiler(environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()))
	must(t, err)
	options := admissioncel.OptionalVariableDeclarations{HasAuthorizer: true}
	for _, v := range p.Spec.Variables {
		if got := p.compiler.CompileAndStoreVariable(expression{v.Name, v.Expression, []*cel.Type{cel.AnyType, cel.DynType}}, options, environment.NewExpressions); got.Error != nil {
			t.Fatalf("%s: variable %s: %s", p.Name, v.Name, got.Error.Detail)
		}
	}
	conditions, validations := []admissioncel.ExpressionAccessor{}, []admissioncel.ExpressionAccessor{}
	for _, c := range p.Spec.MatchConditions {
		conditions = append(conditions, expression{text: c.Expression, types: []*cel.Type{cel.BoolType}})
	}
	for _, v := range p.Spec.Validations {
		validations = append(validations, expression{text: v.Expression, types: []*cel.Type{cel.BoolType}})
	}
	p.conditions = p.compiler.CompileCondition(conditions, options, environment.NewExpressions)
	p.validations = p.compiler.CompileCondition(validations, options, environment.NewExpressions)
	for _, err := range slices.Concat(p.conditions.CompilationErrors(), p.validations.CompilationErrors()) {
		t.Errorf("%s: %v", p.Name, err)
	}
	return p
}

// A request is one that the API server judges.
type request struct {
	resource          schema.GroupResource
	operation         admission.Operation
	object, oldObject map[string]any
	options           runtime.Object
	mayApprove        bool
}

// Authorize lets users create RolloutRequests who may approve.
func (r request) Authorize(context.Context, authorizer.Attributes) (authorizer.Decision, string, error) {
	if r.mayApprove {
		return authorizer.DecisionAllow, "", nil
	}
	return authorizer.DecisionDeny, "", nil
}

// refusals returns the messages of the validations that refuse a request.
func refusals(t *testing.T, policies []policy, r request) []string {
	t.Helper()
	out := []string{}
	for _, p := range policies {
		if matchesRequest(p, r) {
			out = append(out, p.refuse(t, r)...)
		}
	}
	return out
}

func matchesRequest(p policy, r request) bool {
	return slices.ContainsFunc(p.Spec.MatchConstraints.ResourceRules, func(rule admissionregistrationv1.NamedRuleWithOperations) bool {
		return slices.Contains(rule.APIGroups, r.resource.Group) && slices.Contains(rule.Resources, r.resource.Resource) &&
			slices.Contains(rule.Operations, admissionregistrationv1.OperationType(r.operation))
	})
}

func (p policy) refuse(t *testing.T, r request) []string {
	t.Helper()
	kind := schema.GroupVersionKind{Group: r.resource.Group, Version: "v1alpha1", Kind: "Any"}
	object, oldObject := runtimeObject(r.object), runtimeObject(r.oldObject)
	a := admission.NewAttributesRecord(object, oldObject, kind, "team-a", "shop", r.resource.WithVersion("v1alpha1"), "", r.operation, r.options, false, &user.DefaultInfo{Name: "eve"})
	versioned := &admission.VersionedAttributes{Attributes: a, VersionedKind: kind, VersionedObject: object, VersionedOldObject: oldObject}
	admitted := admissioncel.CreateAdmissionRequest(a, metav1.GroupVersionResource(a.GetResource()), metav1.GroupVersionKind(kind))
	evaluate := func(e admissioncel.ConditionEvaluator) []admissioncel.EvaluationResult {
		results, _, err := e.ForInput(p.compiler.CreateContext(t.Context()), versioned, admitted, admissioncel.OptionalVariableBindings{Authorizer: r}, nil, celconfig.RuntimeCELCostBudget)
		must(t, err)
		return results
	}
	for _, result := range evaluate(p.conditions) {
		if result.Error == nil && result.EvalResult.Value() == false {
			return nil
		}
	}
	out := []string{}
	for i, result := range evaluate(p.validations) {
		if result.Error != nil {
			t.Errorf("%s: %s: %v", p.Name, p.Spec.Validations[i].Expression, result.Error)
		}
		if result.Error == nil && result.EvalResult.Value() == false {
			out = append(out, p.Spec.Validations[i].Message+p.Spec.Validations[i].MessageExpression)
		}
	}
	return out
}

func runtimeObject(object map[string]any) runtime.Object {
	if object == nil {
		return nil
	}
	return &unstructured.Unstructured{Object: object}
}
