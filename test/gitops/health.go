// Package gitops judges objects as GitOps engines do, by what the examples say.
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

	"github.com/intentplane/intentplane/test/controlplane"
)

// ArgoCDHealth is what Argo CD says of an object's health, and its message, with the scripts in examples/gitops/argocd/health.yaml. They run
// as Argo CD runs them, with no library but the basic one and that of tables. It returns an error if the object has no script,
// or it fails.
func ArgoCDHealth(o *unstructured.Unstructured) (status, message string, err error) {
	script, err := scriptFor(o)
	if err != nil {
		return "", "", err
	}
	l := lua.NewState(lua.Options{SkipOpenLibs: true})
	defer l.Close()
	for name, open := range map[string]lua.LGFunction{lua.BaseLibName: lua.OpenBase, lua.TabLibName: lua.OpenTable} {
		if err := l.CallByParam(lua.P{Fn: l.NewFunction(open), Protect: true}, lua.LString(name)); err != nil {
			return "", "", errors.Wrap(err, "cannot open library")
		}
	}
	l.SetGlobal("obj", valueOf(l, o.Object))
	if err := l.DoString(script); err != nil {
		return "", "", errors.Wrap(err, "cannot run script")
	}
	health, ok := l.Get(-1).(*lua.LTable)
	if !ok {
		return "", "", errors.New("cannot read health: the script returns no table")
	}
	return lua.LVAsString(health.RawGetString("status")), lua.LVAsString(health.RawGetString("message")), nil
}

// scriptFor is the script whose key is a pattern of the object's group and kind.
func scriptFor(o *unstructured.Unstructured) (string, error) {
	root, err := controlplane.Root()
	if err != nil {
		return "", err
	}
	b, err := os.ReadFile(filepath.Join(root, "examples", "gitops", "argocd", "health.yaml"))
	if err != nil {
		return "", errors.Wrap(err, "cannot read example")
	}
	config, scripts := corev1.ConfigMap{}, map[string]map[string]string{}
	if err := yaml.UnmarshalStrict(b, &config); err != nil {
		return "", errors.Wrap(err, "cannot parse example")
	}
	if err := yaml.UnmarshalStrict([]byte(config.Data["resource.customizations"]), &scripts); err != nil {
		return "", errors.Wrap(err, "cannot parse customizations")
	}
	for pattern, s := range scripts {
		if ok, err := path.Match(pattern, o.GroupVersionKind().Group+"/"+o.GetKind()); ok && err == nil {
			return s["health.lua"], nil
		}
	}
	return "", errors.Errorf("cannot find a script for %s", o.GroupVersionKind())
}

// valueOf is a value of JSON in Lua.
func valueOf(l *lua.LState, v any) lua.LValue {
	switch v := v.(type) {
	case map[string]any:
		t := l.NewTable()
		for key, value := range v {
			t.RawSetString(key, valueOf(l, value))
		}
		return t
	case []any:
		t := l.NewTable()
		for _, value := range v {
			t.Append(valueOf(l, value))
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
