// Package gitops judges objects as GitOps engines do, by the configuration in the examples.
package gitops

import (
	"os"
	"path"
	"path/filepath"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	lua "github.com/yuin/gopher-lua"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/intentplane/intentplane/test/controlplane/toolbox"
)

// A customization is the part of Argo CD's configuration about objects of a kind.
type customization struct {
	Health  string `json:"health.lua"` //nolint:tagliatelle // Argo CD's name.
	Actions string `json:"actions,omitempty"`
}

// ArgoCDHealth is an object's health in Argo CD, and its message, with the scripts in examples/gitops/argocd/health.yaml. It returns an error
// if the object has no script, or it fails.
func ArgoCDHealth(o *unstructured.Unstructured) (status, message string, err error) {
	c, err := customizationFor(o)
	if err != nil {
		return "", "", err
	}
	health, err := runLuaScript(o, c.Health)
	if err != nil {
		return "", "", err
	}
	return lua.LVAsString(health.RawGetString("status")), lua.LVAsString(health.RawGetString("message")), nil
}

// runLuaScript returns the table that a script returns for an object. It runs as Argo CD runs it, with the libraries that Argo CD opens: the
// basic library, the libraries of packages and tables, and of the operating system the time alone.
func runLuaScript(o *unstructured.Unstructured, script string) (*lua.LTable, error) {
	l := lua.NewState(lua.Options{SkipOpenLibs: true})
	defer l.Close()
	for name, open := range map[string]lua.LGFunction{lua.LoadLibName: lua.OpenPackage, lua.BaseLibName: lua.OpenBase, lua.TabLibName: lua.OpenTable} {
		if err := l.CallByParam(lua.P{Fn: l.NewFunction(open), Protect: true}, lua.LString(name)); err != nil {
			return nil, errors.Wrap(err, "cannot open library")
		}
	}
	l.PreloadModule(lua.OsLibName, openClock)
	l.SetGlobal("obj", convertGoValue(l, o.Object))
	if err := l.DoString(script); err != nil {
		return nil, errors.Wrap(err, "cannot run script")
	}
	out, isTable := l.Get(-1).(*lua.LTable)
	if !isTable {
		return nil, errors.New("cannot read the result: the script returns no table")
	}
	return out, nil
}

// customizationFor returns the customization of the group and kind of an object: by name, before patterns.
func customizationFor(o *unstructured.Unstructured) (customization, error) {
	all, err := readCustomizations()
	if err != nil {
		return customization{}, err
	}
	key := o.GroupVersionKind().Group + "/" + o.GetKind()
	if c, isNamed := all[key]; isNamed {
		return c, nil
	}
	for pattern, c := range all {
		if isMatch, err := path.Match(pattern, key); isMatch && err == nil {
			return c, nil
		}
	}
	return customization{}, errors.Errorf("cannot find a script for %s", o.GroupVersionKind())
}

// readCustomizations returns the customizations of examples/gitops/argocd/health.yaml, by groups and kinds.
func readCustomizations() (map[string]customization, error) {
	root, err := toolbox.Root()
	if err != nil {
		return nil, err
	}
	b, err := os.ReadFile(filepath.Join(root, "examples", "gitops", "argocd", "health.yaml"))
	if err != nil {
		return nil, errors.Wrap(err, "cannot read example")
	}
	config, out := corev1.ConfigMap{}, map[string]customization{}
	if err := yaml.UnmarshalStrict(b, &config); err != nil {
		return nil, errors.Wrap(err, "cannot parse example")
	}
	return out, errors.Wrap(yaml.UnmarshalStrict([]byte(config.Data["resource.customizations"]), &out), "cannot parse customizations")
}

// convertGoValue is a value of JSON in Lua.
func convertGoValue(l *lua.LState, v any) lua.LValue {
	switch v := v.(type) {
	case map[string]any:
		t := l.NewTable()
		for key, value := range v {
			t.RawSetString(key, convertGoValue(l, value))
		}
		return t
	case []any:
		t := l.NewTable()
		for _, value := range v {
			t.Append(convertGoValue(l, value))
		}
		return t
	case string:
		return lua.LString(v)
	case bool:
		return lua.LBool(v)
	case int64:
		return lua.LNumber(v)
	case float64:
		return lua.LNumber(v)
	}
	return lua.LNil
}
