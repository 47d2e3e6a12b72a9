package analysis

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"sigs.k8s.io/yaml"
)

// isUserOfArgo reports whether an object refers to templates of Argo Rollouts, and can give values to their arguments.
func isUserOfArgo(n named) bool {
	group, _, _ := strings.Cut(n.APIVersion, "/")
	return group == "argoproj.io" && slices.Contains([]string{"Rollout", "Experiment"}, n.Kind)
}

// noteUserSettings adds notes about the settings of a Rollout or an Experiment that change the verdicts of templates, since the conversion reads templates alone.
func (c *converter) noteUserSettings(document []byte) error {
	object := struct {
		Spec map[string]any `json:"spec"`
	}{}
	if err := yaml.Unmarshal(document, &object); err != nil {
		return errors.Wrapf(err, "cannot read %s", c.object)
	}
	c.noteReferences("spec", object.Spec)
	return nil
}

// noteReferences adds notes about the references to templates below a path: mappings with the names of templates, or with analyses.
func (c *converter) noteReferences(path string, value any) {
	switch value := value.(type) {
	case []any:
		for i, item := range value {
			c.noteReferences(fmt.Sprintf("%s[%d]", path, i), item)
		}
	case map[string]any:
		if value["templates"] != nil || value["templateName"] != nil || value["analyses"] != nil {
			c.noteReference(path, value)
		}
		for _, field := range slices.Sorted(maps.Keys(value)) {
			c.noteReferences(path+"."+field, value[field])
		}
	}
}

// noteReference adds a note for each argument without a value of the command line, and for dry runs.
func (c *converter) noteReference(path string, reference map[string]any) {
	args, _ := reference["args"].([]any)
	for i, item := range args {
		argument, _ := item.(map[string]any)
		name, _ := argument["name"].(string)
		if _, isGiven := c.Args[name]; name != "" && !isGiven {
			c.addNotef(fmt.Sprintf("%s.args[%d]", path, i), "a check has the value of its template: say --arg %s=VALUE for another one", name)
		}
	}
	if dryRuns, _ := reference["dryRun"].([]any); len(dryRuns) > 0 {
		c.addNotef(path+".dryRun", "a check decides: remove the checks of metrics that are dry runs")
	}
}
