package compile

import (
	"encoding/hex"
	"slices"
	"strings"

	"k8s.io/utils/ptr"

	"github.com/intentplane/intentplane/apis/memo"
	"github.com/intentplane/intentplane/apis/step"
	"github.com/intentplane/intentplane/apis/track"
	"github.com/intentplane/intentplane/function/catalog"
	"github.com/intentplane/intentplane/function/compose"
)

// initialTrack returns the track that a selection is rendered in for the first time, or "" for a Blueprint without tracks.
func initialTrack(s *catalog.Selection) string {
	if s.Blueprint.Spec.Canary == nil {
		return ""
	}
	return track.Blue
}

// Workload returns the inputs of the placement of a workload, from the files of its Sites in the first track, and the track that gets most of the requests.
func (c *Compiler) Workload(d Deployment, rendered []compose.Rendered, serving string) (step.Workload, error) {
	config := d.Spec.DeliveryConfig.Canary
	out := step.Workload{IsEnabled: config != nil && ptr.Deref(config.Enabled, true), Serving: serving}
	var digests []string
	for _, r := range rendered {
		w, err := c.readWorkload(r)
		if err != nil {
			return out, err
		}
		out.HasPods = out.HasPods || w.HasPods
		digests = append(digests, w.Digest)
	}
	// If all Sites have the same digest, it stays when a Site comes or leaves.
	slices.Sort(digests)
	digests = slices.Compact(digests)
	out.Digest = strings.Join(digests, " ")
	if len(digests) > 1 {
		sum := memo.KeyOf(out.Digest)
		out.Digest = "sha256:" + hex.EncodeToString(sum[:])
	}
	return out, nil
}

// readWorkload returns the workload of the first track of a rendered Site. It is cached.
func (c *Compiler) readWorkload(r compose.Rendered) (track.Workload, error) {
	return c.workloads.Remember(memo.KeyOf("workload "+r.Packed.ID), func() (track.Workload, int, error) {
		w, err := track.ReadWorkload(r.Files, track.Blue)
		return w, siteBytes, err
	})
}
