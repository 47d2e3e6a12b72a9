package deployment

import (
	"context"
	"encoding/json"
	"maps"
	"sync"

	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/function/compile"
	"github.com/intentplane/intentplane/function/render"
)

// A rememberingRenderer renders the same input once: the stories of a walk ask for the same few revisions again and again. Its zero value needs a Renderer.
type rememberingRenderer struct {
	compile.Renderer

	rendered sync.Map
}

// Build returns the cached result of the Renderer for the same input.
func (r *rememberingRenderer) Build(ctx context.Context, in render.Input) (tree.Files, error) {
	key, err := json.Marshal([]any{in.Blueprint, in.Intent, in.Site, in.Claim, in.Track})
	if err != nil {
		return nil, err
	}
	if files, ok := r.rendered.Load(string(key)); ok {
		return maps.Clone(files.(tree.Files)), nil
	}
	files, err := r.Renderer.Build(ctx, in)
	if err == nil {
		r.rendered.Store(string(key), maps.Clone(files))
	}
	return files, err
}

// A slowRenderer renders in time, or not at all.
type slowRenderer struct {
	compile.Renderer

	isLate bool
}

// Build returns a TimeoutError while the renderer is late.
func (r *slowRenderer) Build(ctx context.Context, in render.Input) (tree.Files, error) {
	if r.isLate {
		return nil, &render.TimeoutError{}
	}
	return r.Renderer.Build(ctx, in)
}
