package condition

import (
	"fmt"
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// answerVariable is the name of the answer in an expression of a web check.
const answerVariable = "answer"

// pathStep matches one step of a path.
const pathStep = `\.[A-Za-z_][A-Za-z0-9_-]*|\[[0-9]+\]|\['[^'\\]+'\]`

var (
	pathPattern = regexp.MustCompile(`^\{((?:\$|` + pathStep + `)(?:` + pathStep + `)*)\}\s*$`)
	pathPart    = regexp.MustCompile(`\.([A-Za-z_][A-Za-z0-9_-]*)|\[([0-9]+)\]|\['([^'\\]+)'\]`)
)

// AnswerPath returns the CEL expression for the value that a JSONPath selects, which is all of an answer without a path. It returns an error for a path that
// may select several things, and for text outside of the braces, which Argo Rollouts would judge in the place of the answer.
func AnswerPath(jsonPath string) (string, error) {
	if jsonPath == "" {
		return answerVariable, nil
	}
	found := pathPattern.FindStringSubmatch(jsonPath)
	if found == nil {
		return "", errors.New("is not a path of names and numbers, such as {$.data.ok}")
	}
	out := []string{answerVariable}
	for _, part := range pathPart.FindAllStringSubmatch(found[1], -1) {
		if part[2] != "" {
			out = append(out, "["+part[2]+"]")
			continue
		}
		out = append(out, celFieldSelector(part[1]+part[3]))
	}
	return strings.Join(out, ""), nil
}

var identifierPattern = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// celFieldSelector selects a field. A name that CEL reserves, or could not read, is quoted.
func celFieldSelector(name string) string {
	if identifierPattern.MatchString(name) && !token.IsKeyword(name) && name != "in" && name != "as" {
		return "." + name
	}
	return "[" + strconv.Quote(name) + "]"
}

// celFunction returns the name that CEL has for a function of conditions, or "".
func celFunction(name string) string {
	switch name {
	case "len":
		return "size"
	case "asFloat", "float":
		return "double"
	case "asInt", "int":
		return "int"
	}
	return ""
}

// isComparison reports whether an operator compares, which CEL does in the same way.
func isComparison(op token.Token) bool {
	return slices.Contains([]token.Token{token.EQL, token.NEQ, token.LSS, token.LEQ, token.GTR, token.GEQ}, op)
}

// A celWriter writes expressions of Argo Rollouts in CEL.
type celWriter struct {
	// path stands for result.
	path string

	// Both operators, in the form of the language.
	and, or string
}

// newCELWriter returns a celWriter whose conditions are true, false or an error where they are that in Argo Rollouts. CEL evaluates both sides of && and ||,
// and passes over an error of one where the other decides: a conditional evaluates no more than it needs.
func newCELWriter(path string) celWriter {
	return celWriter{path: path, and: "(%s ? %s : false)", or: "(%s ? true : %s)"}
}

// ToCEL returns a condition in CEL, in which a path stands for result. It returns an error for a condition that CEL does not have.
func ToCEL(text, path string) (string, error) { return newCELWriter(path).convertCondition(text) }

// ToCELIgnoringErrors returns a condition in CEL as ToCEL does, with fewer errors: with it a constant condition is recognised.
func ToCELIgnoringErrors(text, path string) (string, error) {
	return newCELWriter(path).ignoringErrors().convertCondition(text)
}

func (w celWriter) convertCondition(text string) (string, error) {
	e, err := parseCondition(text)
	if err != nil {
		return "", err
	}
	return w.writeCondition(e)
}

// ignoringErrors returns a celWriter whose conditions have the same values, and fewer errors: with it a constant condition is recognised.
func (w celWriter) ignoringErrors() celWriter {
	return celWriter{path: w.path, and: "(%s && %s)", or: "(%s || %s)"}
}

// writeCondition returns a condition in CEL.
func (w celWriter) writeCondition(e ast.Expr) (string, error) {
	switch e := ast.Unparen(e).(type) {
	case *ast.UnaryExpr:
		if e.Op == token.NOT {
			denied, err := w.writeCondition(e.X)
			return "!(" + denied + ")", err
		}
	case *ast.BinaryExpr:
		switch {
		case e.Op == token.LAND:
			return w.writeLogicalExpr(e, w.and)
		case e.Op == token.LOR:
			return w.writeLogicalExpr(e, w.or)
		case isComparison(e.Op):
			return w.writeComparison(e)
		}
	case *ast.BasicLit, *ast.CallExpr:
		return "", errors.New("is a value, and not a condition")
	}
	// No value but true and false can be negated.
	value, err := w.writeNullableValue(e)
	return "!(!(" + value + "))", err
}

func (w celWriter) writeLogicalExpr(e *ast.BinaryExpr, form string) (string, error) {
	left, err := w.writeCondition(e.X)
	if err != nil {
		return "", err
	}
	right, err := w.writeCondition(e.Y)
	return fmt.Sprintf(form, left, right), err
}

func (w celWriter) writeComparison(e *ast.BinaryExpr) (string, error) {
	left, err := w.writeNullableValue(e.X)
	if err != nil {
		return "", err
	}
	right, err := w.writeNullableValue(e.Y)
	return "(" + left + " " + e.Op.String() + " " + right + ")", err
}

// writeNullableValue returns a value in CEL. A field that an object does not have is null, as in Argo Rollouts, where other values have no fields: "in" is an error for
// other values except lists, and has() for lists.
func (w celWriter) writeNullableValue(e ast.Expr) (string, error) {
	e = ast.Unparen(e)
	object, key, err := selectedField(e)
	if err != nil {
		return "", err
	}
	if object == nil {
		return w.writePlainValue(e)
	}
	owner, err := w.writePlainValue(object)
	field := celFieldSelector(key)
	if !strings.HasPrefix(field, ".") {
		return fmt.Sprintf("(%[2]q in %[1]s ? dyn(%[1]s%[3]s) : has(%[1]s.key) ? null : null)", owner, key, field), err
	}
	return fmt.Sprintf("(%[2]q in %[1]s ? %[1]s%[3]s : has(%[1]s%[3]s) ? null : null)", owner, key, field), err
}

// selectedField returns the object and the name of a field that an expression selects, and no object for another expression.
func selectedField(e ast.Expr) (ast.Expr, string, error) {
	switch e := e.(type) {
	case *ast.SelectorExpr:
		return e.X, e.Sel.Name, nil
	case *ast.IndexExpr:
		if l, ok := e.Index.(*ast.BasicLit); ok && l.Kind == token.STRING {
			key, err := strconv.Unquote(l.Value)
			return e.X, key, errors.Wrapf(err, "cannot read %s", l.Value)
		}
	}
	return nil, "", nil
}

// writePlainValue returns a value in CEL, all fields of which have to be there.
func (w celWriter) writePlainValue(e ast.Expr) (string, error) {
	e = ast.Unparen(e)
	object, key, err := selectedField(e)
	if err != nil {
		return "", err
	}
	if object != nil {
		owner, err := w.writePlainValue(object)
		return owner + celFieldSelector(key), err
	}
	switch e := e.(type) {
	case *ast.Ident:
		return w.writeVariable(e.Name)
	case *ast.BasicLit:
		return celLiteral(e)
	case *ast.IndexExpr:
		list, err := w.writePlainValue(e.X)
		l, ok := e.Index.(*ast.BasicLit)
		if !ok || l.Kind != token.INT {
			return "", errors.New("has an index that is neither a number nor a text")
		}
		return list + "[" + l.Value + "]", err
	case *ast.UnaryExpr:
		if l, ok := e.X.(*ast.BasicLit); ok && e.Op == token.SUB {
			return "-" + l.Value, nil
		}
	case *ast.CallExpr:
		return w.writeCallExpr(e)
	case *ast.BinaryExpr:
		if !isComparison(e.Op) {
			return "", errors.Errorf("%s has no counterpart in CEL", e.Op)
		}
	}
	return "", errors.New("has a part without a counterpart in CEL")
}

func (w celWriter) writeVariable(name string) (string, error) {
	switch name {
	case resultVariable:
		return w.path, nil
	case "true", "false":
		return name, nil
	case "nil":
		return "null", nil
	}
	return "", errors.Errorf("%q is neither result nor a constant", name)
}

func celLiteral(l *ast.BasicLit) (string, error) {
	switch l.Kind {
	case token.INT, token.FLOAT:
		return l.Value, nil
	case token.STRING:
		text, err := strconv.Unquote(l.Value)
		return strconv.Quote(text), errors.Wrapf(err, "cannot read %s", l.Value)
	}
	return "", errors.Errorf("%s has no counterpart in CEL", l.Value)
}

func (w celWriter) writeCallExpr(call *ast.CallExpr) (string, error) {
	f, ok := call.Fun.(*ast.Ident)
	if !ok || len(call.Args) != 1 || celFunction(f.Name) == "" {
		return "", errors.New("calls a function without a counterpart in CEL")
	}
	argument, err := w.writeNullableValue(call.Args[0])
	converted := celFunction(f.Name) + "(" + argument + ")"
	if f.Name == "len" {
		return converted, err
	}
	// CEL compares a fraction with a whole number unless it knows the types of both beforehand.
	return "dyn(" + converted + ")", err
}
