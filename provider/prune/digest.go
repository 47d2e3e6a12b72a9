package prune

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"regexp"
	"slices"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// digestPattern matches digests.
var digestPattern = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

// confirmed is the content that a user confirms: the items to remove, their repository, and the options. Times and sentences are not part of
// it.
type confirmed struct {
	Scope         Scope           `json:"scope"`
	Namespace     string          `json:"namespace"`
	Namespaces    []string        `json:"namespaces"`
	BundleGroup   string          `json:"bundleGroup"`
	BundleName    string          `json:"bundleName"`
	Only          []string        `json:"only"`
	MinAge        time.Duration   `json:"minAge"`
	AllowMost     bool            `json:"allowMost"`
	AllowStateful bool            `json:"allowStateful"`
	Repository    string          `json:"repository"`
	Branch        string          `json:"branch"`
	ControlPlane  string          `json:"controlPlane"`
	ClusterUID    string          `json:"clusterUID"`
	TakeOverFrom  string          `json:"takeOverFrom"`
	Items         []confirmedItem `json:"items"`
}

type confirmedItem struct {
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace"`
	Name       string `json:"name"`
	Path       string `json:"path"`
	Tree       string `json:"tree"`
	UID        string `json:"uid"`
	SpecDigest string `json:"specDigest"`
}

// digestOfItems returns the digest of the items to remove. The order in which facts were read does not change it.
func (f *Facts) digestOfItems(pruned []Item) (string, error) {
	c := confirmed{
		Scope: f.Scope, Namespace: f.Namespace, Namespaces: sortedWithoutCopies(f.Namespaces), BundleGroup: f.Bundle.Group, BundleName: f.Bundle.Name, Only: sortedWithoutCopies(f.Only),
		MinAge: f.MinAge, AllowMost: f.AllowMost, AllowStateful: f.AllowStateful, Items: []confirmedItem{},
	}
	if f.Scope == ScopeDirectories {
		r := f.Repository
		c.Repository, c.Branch, c.ControlPlane, c.ClusterUID, c.TakeOverFrom = r.URL, r.Branch, r.ControlPlane, r.ClusterUID, r.TakeOverFrom
	}
	for _, i := range pruned {
		c.Items = append(c.Items, confirmedItem{Kind: i.Kind, Namespace: i.Namespace, Name: i.Name, Path: i.Path, Tree: i.Tree, UID: i.UID, SpecDigest: i.SpecDigest})
	}
	b, err := json.Marshal(c)
	if err != nil {
		return "", errors.Wrap(err, "cannot encode plan")
	}
	sum := sha256.Sum256(b)
	return "sha256:" + hex.EncodeToString(sum[:]), nil
}

func sortedWithoutCopies(all []string) []string {
	out := append([]string{}, all...)
	slices.Sort(out)
	return slices.Compact(out)
}
