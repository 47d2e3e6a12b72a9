package main

import (
	"path"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/policy"
	"github.com/intentplane/intentplane/function"
	"github.com/intentplane/intentplane/function/compose"
)

// A delivered object is one that a deployment brings to a Site of a repository.
type deliveredObject struct {
	site   string
	object policy.Object
}

// claims are the deployments that bring objects to Sites, as <namespace>/<name>. The first one keeps an object.
type claims map[deliveredObject]string

// take notes what a deployment brings. It returns an error, whose reason function.ReasonOf tells, for an object that another one brings
// to the same Site, and notes nothing of it then.
func (c claims) take(d *deploymentv1alpha1.IntentDeployment, places []compose.Rendered) error {
	name, taken := d.GetNamespace()+"/"+d.GetName(), []deliveredObject{}
	for _, p := range places {
		for _, file := range p.Files.Names() {
			for _, o := range policy.ObjectsIn(file, p.Files[file]) {
				key := deliveredObject{site: siteKey(p), object: o}
				if other, ok := c[key]; ok && other != name {
					return function.Failed(deploymentv1alpha1.ReasonObjectConflict, errors.Errorf(
						"Site %q: %s is delivered there by %s as well: give one of the services another name", p.Place.Site.GetName(), o, other))
				}
				taken = append(taken, key)
			}
		}
	}
	for key := range slices.Values(taken) {
		c[key] = name
	}
	return nil
}

// siteKey is where the directories of all claims of a Site lie.
func siteKey(p compose.Rendered) string {
	g := p.Place.Config.Git
	return policy.RepositoryKey(g.URL) + " " + g.Branch + " " + path.Dir(path.Dir(p.Place.Path))
}
