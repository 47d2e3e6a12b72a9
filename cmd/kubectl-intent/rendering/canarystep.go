package rendering

import (
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/utils/ptr"

	"github.com/intentplane/intentplane/apis/track"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/function/canary"
)

// filesInStep returns the files of the Sites in a step of a canary, counted from 1 over all waves. It leaves out Sites of later waves, and the
// folder of the stable revision. It returns an error for a number beyond the steps of the plan.
func filesInStep(all []Site, waves []canary.PlannedWave, number int) ([]Site, error) {
	total, out := 0, []Site{}
	for _, w := range waves {
		begins := total
		total += len(w.Steps)
		if number <= begins {
			continue
		}
		s := w.Steps[min(number-begins, len(w.Steps))-1]
		for _, site := range all {
			if !slices.Contains(w.Sites, site.Name) {
				continue
			}
			files, err := filesBeside(site.Files, int(ptr.Deref(s.Weight, 100)), int(ptr.Deref(s.Ahead, 100)))
			if err != nil {
				return nil, errors.Wrap(err, site.Name)
			}
			site.Files = files
			out = append(out, site)
		}
	}
	if number < 1 || number > total {
		return nil, errors.Errorf("the deployment goes out in %[2]d steps, counted from 1: step %[1]d does not exist", number, total)
	}
	return out, nil
}

// filesBeside returns the files of a canary, whose track gets a share of the requests.
func filesBeside(files tree.Files, weight, ahead int) (tree.Files, error) {
	if len(files) == 0 {
		return files, nil // The Site waits for its cluster.
	}
	ownTrack := track.Blue
	for name := range files {
		if strings.HasPrefix(name, track.Green+"/") {
			ownTrack = track.Green
		}
	}
	return track.At(files, track.State{Serving: track.Other(ownTrack), Weight: weight, Ahead: ahead})
}
