package sites

import (
	"encoding/json"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	numbers "k8s.io/apimachinery/pkg/util/json"

	"github.com/intentplane/intentplane/test/patience"
)

// A player writes a story of provider/engines/testdata, which has the writes of an engine's controllers, step by step, into objects on a real
// API server. That checks it against the engine's own schema.
type player struct {
	*stage

	story struct {
		Main   json.RawMessage `json:"main"`
		Second json.RawMessage `json:"second"`
		Steps  []struct {
			Name   string          `json:"name"`
			Main   json.RawMessage `json:"main"`
			Second json.RawMessage `json:"second"`
		} `json:"steps"`
	}
	next int

	main, second object
	// commits are the story's names of commits, with the commits here.
	commits map[string]string
}

// An object that a story is about.
type object struct {
	*unstructured.Unstructured

	// lead is the difference between the story's generations and the generations here, where every object begins with 1.
	lead int64
	// status is true if the kind has that subresource, and touch is a patch that raises its generation.
	status bool
	touch  string
}

// applyStory makes the objects of a story.
func (s *stage) applyStory(file string) *player {
	s.T.Helper()
	b := s.ProjectFile("provider", "engines", "testdata", file)
	p := &player{stage: s, commits: map[string]string{}}
	s.Must(json.Unmarshal(b, &p.story))
	p.main = p.createApplication(p.story.Main)
	if p.story.Second != nil {
		p.second = p.createApplication(p.story.Second)
	}
	return p
}

func (p *player) createApplication(story json.RawMessage) object {
	p.T.Helper()
	u := &unstructured.Unstructured{Object: p.adaptStep(story)}
	o := object{Unstructured: u, lead: u.GetGeneration() - 1}
	u.SetGeneration(0)
	u.SetNamespace(p.Namespace)
	unstructured.RemoveNestedField(u.Object, "status")
	switch u.GetKind() {
	case "RootSync":
		o.status, o.touch = true, `{"spec":{"git":{"period":"30s"}}}`
	case "ResourceGroup":
		o.status, o.touch = true, `{"spec":{"resources":[]}}`
	}
	p.Until("the kind is served", patience.Limit, func() bool { return p.ApplyObject(p.T.Context(), u.DeepCopy()) == nil })
	return o
}

// adaptStep is a part of a story with the repository, the directory and the commits of this stage.
func (p *player) adaptStep(part json.RawMessage) map[string]any {
	p.T.Helper()
	url := p.Git.URL(p.Namespace)
	words := []string{"https://git.example.org/fleet", strings.TrimSuffix(url, ".git"), "clusters/edge1/team-a/web", p.Directory("edge1", claim)}
	for letter, id := range p.commits {
		words = append(words, strings.Repeat(letter, len(id)), id)
	}
	out := map[string]any{}
	p.Must(numbers.Unmarshal([]byte(strings.NewReplacer(words...).Replace(string(part))), &out))
	return out
}

// playUntil plays the story as far as a step.
func (p *player) playUntil(step string) {
	p.T.Helper()
	for p.next < len(p.story.Steps) {
		now := p.story.Steps[p.next]
		p.next++
		// The second object first: between the two nothing may look as if all were well.
		p.write(p.second, now.Second)
		p.write(p.main, now.Main)
		if now.Name == step {
			return
		}
	}
	p.T.Fatalf("the story has no step %q from here on", step)
}

// write one patch of a story, as the engine's controllers do.
func (p *player) write(o object, story json.RawMessage) {
	p.T.Helper()
	if story == nil {
		return
	}
	patch := p.adaptStep(story)
	if _, ok, _ := unstructured.NestedFieldNoCopy(patch, "metadata", "generation"); ok {
		delete(patch, "metadata")
		p.Patch(o.Unstructured, o.touch)
	}
	if g, ok, _ := unstructured.NestedInt64(patch, "status", "observedGeneration"); ok {
		p.Must(unstructured.SetNestedField(patch, g-o.lead, "status", "observedGeneration"))
	}
	p.addObject(o.GetKind(), patch)
	if status := patch["status"]; o.status && status != nil {
		delete(patch, "status")
		p.Patch(o.Unstructured, p.textOfStep(map[string]any{"status": status}), "status")
	}
	if len(patch) > 0 {
		p.Patch(o.Unstructured, p.textOfStep(patch))
	}
}

// addObject adds the ConfigMap in the directory of this stage to the objects that a step of an engine lists.
func (p *player) addObject(kind string, patch map[string]any) {
	status, _ := patch["status"].(map[string]any)
	object := map[string]any{"kind": "ConfigMap", "namespace": p.Namespace, "name": "a"}
	if listed, ok := status["resourceStatuses"].([]any); ok {
		object["status"] = "Current"
		status["resourceStatuses"] = append(listed, object)
	}
	if _, ok := status["sync"]; ok && kind == "Application" {
		object["status"], object["version"] = "Synced", "v1"
		status["resources"] = []any{object}
	}
}

func (p *player) textOfStep(patch map[string]any) string {
	p.T.Helper()
	b, err := json.Marshal(patch)
	p.Must(err)
	return string(b)
}
