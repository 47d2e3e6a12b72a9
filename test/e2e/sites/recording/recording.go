// Package recording plays the recorded writes of the controllers of an engine into objects on a real API server.
package recording

import (
	"encoding/json"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	numbers "k8s.io/apimachinery/pkg/util/json"

	"github.com/intentplane/intentplane/test/patience"
	"github.com/intentplane/intentplane/test/scene"
)

// A Player writes a story of provider/engines/testdata, which has the writes of an engine's controllers, step by step, into objects on a real
// API server. That checks the story against the engine's own schema.
type Player struct {
	*scene.Scene

	// Main is the object of the engine, and Second belongs to it. A story without a second object has none.
	Main, Second Object

	// Commits are the commits of this repository, by their letters in the story.
	Commits map[string]string

	// directory is the path of the claim in the repository.
	directory string

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
}

// An Object is an object of a story on the API server.
type Object struct {
	*unstructured.Unstructured

	// lead is the difference between the story's generations and the generations here, where every object begins with 1.
	lead int64
	// status is true if the kind has that subresource, and touch is a patch that raises its generation.
	status bool
	touch  string
}

// Apply creates the objects of a story about a directory of the repository.
func Apply(s *scene.Scene, file, directory string) *Player {
	s.T.Helper()
	b := s.ProjectFile("provider", "engines", "testdata", file)
	p := &Player{Scene: s, directory: directory, Commits: map[string]string{}}
	s.Must(json.Unmarshal(b, &p.story))
	p.Main = p.createObject(p.story.Main)
	if p.story.Second != nil {
		p.Second = p.createObject(p.story.Second)
	}
	return p
}

func (p *Player) createObject(story json.RawMessage) Object {
	p.T.Helper()
	u := &unstructured.Unstructured{Object: p.adaptStep(story)}
	o := Object{Unstructured: u, lead: u.GetGeneration() - 1}
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

// adaptStep returns a part of a story with the repository, the directory and the commits of this scene.
func (p *Player) adaptStep(part json.RawMessage) map[string]any {
	p.T.Helper()
	url := p.Git.URL(p.Namespace)
	words := []string{"https://git.example.org/fleet", strings.TrimSuffix(url, ".git"), "clusters/edge1/team-a/web", p.directory}
	for letter, id := range p.Commits {
		words = append(words, strings.Repeat(letter, len(id)), id)
	}
	out := map[string]any{}
	p.Must(numbers.Unmarshal([]byte(strings.NewReplacer(words...).Replace(string(part))), &out))
	return out
}

// PlayAll plays all steps of the story.
func (p *Player) PlayAll() {
	p.T.Helper()
	p.PlayUntil(p.story.Steps[len(p.story.Steps)-1].Name)
}

// PlayUntil plays the story as far as a step.
func (p *Player) PlayUntil(step string) {
	p.T.Helper()
	for p.next < len(p.story.Steps) {
		now := p.story.Steps[p.next]
		p.next++
		// The second object is written first, so that no reader observes an intermediate state in which all is well.
		p.applyStoryPatch(p.Second, now.Second)
		p.applyStoryPatch(p.Main, now.Main)
		if now.Name == step {
			return
		}
	}
	p.T.Fatalf("the story has no step %q from here on", step)
}

// applyStoryPatch applies one patch of a story, as the engine's controllers do.
func (p *Player) applyStoryPatch(o Object, story json.RawMessage) {
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
	p.addListedObject(o.GetKind(), patch)
	if status := patch["status"]; o.status && status != nil {
		delete(patch, "status")
		p.Patch(o.Unstructured, p.encodePatch(map[string]any{"status": status}), "status")
	}
	if len(patch) > 0 {
		p.Patch(o.Unstructured, p.encodePatch(patch))
	}
}

// addListedObject adds the ConfigMap in the directory to the objects that a step of an engine lists.
func (p *Player) addListedObject(kind string, patch map[string]any) {
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

func (p *Player) encodePatch(patch map[string]any) string {
	p.T.Helper()
	b, err := json.Marshal(patch)
	p.Must(err)
	return string(b)
}
