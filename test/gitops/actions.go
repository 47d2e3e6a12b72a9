package gitops

import (
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	lua "github.com/yuin/gopher-lua"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// scriptDate is the result of os.date in a script, in the formats that the scripts use.
const scriptDate = "20310203040506"

// actionScripts are the actions of a kind.
type actionScripts struct {
	Discovery   string `json:"discovery.lua"` //nolint:tagliatelle // Argo CD's name.
	Definitions []struct {
		Name   string `json:"name"`
		Action string `json:"action.lua"` //nolint:tagliatelle // Argo CD's name.
	} `json:"definitions"`
}

// openClock is the module "os" as far as Argo CD lets a script have it, at a fixed time.
func openClock(l *lua.LState) int {
	module := l.NewTable()
	module.RawSetString("date", l.NewFunction(func(l *lua.LState) int {
		l.Push(lua.LString(scriptDate))
		return 1
	}))
	l.Push(module)
	return 1
}

// ArgoCDActions returns the actions that Argo CD offers for an object, and whether each is enabled. It returns an error if one has no definition.
func ArgoCDActions(o *unstructured.Unstructured) (map[string]bool, error) {
	s, err := actionScriptsFor(o)
	if err != nil {
		return nil, err
	}
	offered, err := runLuaScript(o, s.Discovery)
	if err != nil {
		return nil, err
	}
	out := map[string]bool{}
	offered.ForEach(func(name, action lua.LValue) {
		isDisabled := false
		if t, isTable := action.(*lua.LTable); isTable {
			isDisabled = lua.LVAsBool(t.RawGetString("disabled"))
		}
		out[lua.LVAsString(name)] = !isDisabled
	})
	if len(out) != len(s.Definitions) {
		return nil, errors.Errorf("cannot offer actions: %d are offered, and %d defined", len(out), len(s.Definitions))
	}
	return out, nil
}

// ArgoCDCreates returns the object that an action of Argo CD creates. It returns an error for another operation.
func ArgoCDCreates(o *unstructured.Unstructured, action string) (*unstructured.Unstructured, error) {
	s, err := actionScriptsFor(o)
	if err != nil {
		return nil, err
	}
	for _, d := range s.Definitions {
		if d.Name == action {
			return createdByScript(o, d.Action)
		}
	}
	return nil, errors.Errorf("cannot find action %q", action)
}

func createdByScript(o *unstructured.Unstructured, script string) (*unstructured.Unstructured, error) {
	impacted, err := runLuaScript(o, script)
	if err != nil {
		return nil, err
	}
	first, isTable := impacted.RawGetInt(1).(*lua.LTable)
	if !isTable || impacted.Len() != 1 || lua.LVAsString(first.RawGetString("operation")) != "create" {
		return nil, errors.New("cannot read the result: it does not create one object")
	}
	content, isObject := convertLuaValue(first.RawGetString("resource")).(map[string]any)
	if !isObject {
		return nil, errors.New("cannot read the object that is created")
	}
	return &unstructured.Unstructured{Object: content}, nil
}

func actionScriptsFor(o *unstructured.Unstructured) (actionScripts, error) {
	c, err := customizationFor(o)
	if err != nil {
		return actionScripts{}, err
	}
	out := actionScripts{}
	return out, errors.Wrap(yaml.UnmarshalStrict([]byte(c.Actions), &out), "cannot parse actions")
}

// convertLuaValue is a value of Lua in JSON. Numbers are whole.
func convertLuaValue(v lua.LValue) any {
	switch v := v.(type) {
	case *lua.LTable:
		out := map[string]any{}
		v.ForEach(func(key, value lua.LValue) { out[lua.LVAsString(key)] = convertLuaValue(value) })
		return out
	case lua.LString:
		return string(v)
	case lua.LBool:
		return bool(v)
	case lua.LNumber:
		return int64(v)
	}
	return nil
}
