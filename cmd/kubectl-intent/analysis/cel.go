package analysis

import (
	"go/ast"
	"go/token"
	"regexp"
	"strconv"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// answerVariable is the name of the answer in an expression of a web check.
const answerVariable = "answer"

var (
	pathPattern = regexp.MustCompile(`^\{?\$?((?:\.[A-Za-z_][A-Za-z0-9_-]*|\[[0-9]+\]|\['[^'\\]+'\])*)\}?$`)
	pathPart    = regexp.MustCompile(`\.([A-Za-z_][A-Za-z0-9_-]*)|\[([0-9]+)\]|\['([^'\\]+)'\]`)
)

// answerPath returns the CEL expression for the value that a JSONPath selects. It returns an error for a path that may select several things.
func answerPath(jsonPath string) (string, error) {
	found := pathPattern.FindStringSubmatch(strings.TrimSpace(jsonPath))
	if found == nil {
		return "", errors.New("is not a path of names and numbers, such as {$.data.ok}")
	}
	out := []string{answerVariable}
	for _, part := range pathPart.FindAllStringSubmatch(found[1], -1) {
		if part[2] != "" {
			out = append(out, "["+part[2]+"]")
			continue
		}
		out = append(out, celField(part[1]+part[3]))
	}
	return strings.Join(out, ""), nil
}

var identifierPattern = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// celField selects a field. A name that CEL reserves, or could not read, is quoted.
func celField(name string) string {
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

// isCELOperator reports whether an operator means the same in CEL.
func isCELOperator(op token.Token) bool {
	switch op {
	case token.LAND, token.LOR, token.EQL, token.NEQ, token.LSS, token.LEQ, token.GTR, token.GEQ, token.ADD, token.SUB, token.MUL, token.QUO:
		return true
	}
	return false
}

// celOf returns a condition in CEL. The path stands for result.
func celOf(e ast.Expr, path string) (string, error) {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		return celName(e.Name, path)
	case *ast.BasicLit:
		return celLiteral(e)
	case *ast.SelectorExpr:
		of, err := celOf(e.X, path)
		return of + celField(e.Sel.Name), err
	case *ast.IndexExpr:
		return celJoined(e.X, "[", e.Index, "]", path)
	case *ast.UnaryExpr:
		of, err := celOf(e.X, path)
		if e.Op != token.NOT && e.Op != token.SUB {
			return "", errors.Errorf("%s has no counterpart in CEL", e.Op)
		}
		return e.Op.String() + "(" + of + ")", err
	case *ast.BinaryExpr:
		if !isCELOperator(e.Op) {
			return "", errors.Errorf("%s has no counterpart in CEL", e.Op)
		}
		out, err := celJoined(e.X, " "+e.Op.String()+" ", e.Y, "", path)
		return "(" + out + ")", err
	case *ast.CallExpr:
		return celCall(e, path)
	}
	return "", errors.New("has a part without a counterpart in CEL")
}

func celJoined(left ast.Expr, between string, right ast.Expr, end, path string) (string, error) {
	l, err := celOf(left, path)
	if err != nil {
		return "", err
	}
	r, err := celOf(right, path)
	return l + between + r + end, err
}

func celName(name, path string) (string, error) {
	switch name {
	case resultVariable:
		return path, nil
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

func celCall(call *ast.CallExpr, path string) (string, error) {
	f, ok := call.Fun.(*ast.Ident)
	if !ok || len(call.Args) != 1 || celFunction(f.Name) == "" {
		return "", errors.New("calls a function without a counterpart in CEL")
	}
	of, err := celOf(call.Args[0], path)
	return celFunction(f.Name) + "(" + of + ")", err
}
