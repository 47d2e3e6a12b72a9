package main

import (
	"go/ast"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// readEventReasons returns the reasons of all events that the provider makes itself, by their constant.
func readEventReasons(root string, constants []constant) ([]constant, error) {
	var out []constant
	add := func(name string) error {
		i := slices.IndexFunc(constants, func(c constant) bool { return c.name == name })
		if i < 0 {
			return errors.Errorf("cannot find %s, the reason of an event", name)
		}
		if !slices.Contains(out, constants[i]) {
			out = append(out, constants[i])
		}
		return nil
	}
	err := visitGoFiles(root, "provider", func(_ string, f *ast.File) error {
		var failed error
		ast.Inspect(f, func(n ast.Node) bool {
			if name := reasonOfEvent(n); name != "" && failed == nil {
				failed = add(name)
			}
			return failed == nil
		})
		return failed
	})
	slices.SortFunc(out, func(a, b constant) int { return strings.Compare(a.value, b.value) })
	return out, err
}

// reasonOfEvent returns the reason of an event that is made here: event.Reason(v1alpha1.ReasonX), or the field of a whole event. A copy has the reason of the original.
func reasonOfEvent(n ast.Node) string {
	switch n := n.(type) {
	case *ast.CallExpr:
		f, ok := n.Fun.(*ast.SelectorExpr)
		if ok && f.Sel.Name == "Reason" && len(n.Args) == 1 && strings.HasSuffix(nameOfExpression(f.X), "event") {
			return nameOfExpression(n.Args[0])
		}
	case *ast.CompositeLit:
		if t, ok := n.Type.(*ast.SelectorExpr); ok && t.Sel.Name == "Event" && nameOfExpression(t.X) == "corev1" {
			if name := literalField(n, "Reason"); name != "Reason" {
				return name
			}
		}
	}
	return ""
}

func literalField(l *ast.CompositeLit, name string) string {
	for _, e := range l.Elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok && nameOfExpression(kv.Key) == name {
			return nameOfExpression(kv.Value)
		}
	}
	return ""
}

// nameOfExpression returns the name of an identifier, without its package.
func nameOfExpression(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	}
	return ""
}
