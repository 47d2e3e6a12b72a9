package offline

import (
	"cmp"
	"context"
	"maps"
	"path"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	kerrors "k8s.io/apimachinery/pkg/api/errors"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/directories"
	"github.com/intentplane/intentplane/apis/policy"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/cluster"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/manifest"
	"github.com/intentplane/intentplane/function/compile"
	"github.com/intentplane/intentplane/function/compose"
)

// A deliveredObject is an object that a deployment delivers to a directory of a repository.
type deliveredObject struct {
	// directory has the directories of all deployments of the Site: its repository, branch and path.
	directory string
	object    policy.Object
}

// A broughtObject is an object that a deployment of a file delivers to a Site.
type broughtObject struct {
	key  deliveredObject
	site string
}

// claims are the deployments that bring objects to Sites, as <namespace>/<name>. The first one keeps an object.
type claims map[deliveredObject]string

// recordObjects records the objects of a deployment. It returns an error, whose reason compile.ReasonOf returns, for an object that another
// one brings to the same Site, and notes nothing of it then.
func (c claims) recordObjects(name string, objects []broughtObject) error {
	if err := c.findConflict(name, objects, nil); err != nil {
		return err
	}
	for _, b := range objects {
		c[b.key] = name
	}
	return nil
}

// findConflict returns an error for an object that another deployment delivers to the same Site, except for the skipped deployments.
func (c claims) findConflict(name string, objects []broughtObject, passOver map[string]bool) error {
	for _, b := range objects {
		if otherName, ok := c[b.key]; ok && otherName != name && !passOver[otherName] {
			return compile.ErrorWithReason(deploymentv1alpha1.ReasonObjectConflict, errors.Errorf(
				"Site %q: %s is delivered there by %s as well: give one of the services another name", b.site, b.key.object, otherName))
		}
	}
	return nil
}

// objectsBroughtBy returns the objects that a deployment delivers to its Sites.
func objectsBroughtBy(places []compose.Rendered) []broughtObject {
	out := []broughtObject{}
	for _, p := range places {
		g := p.Place.Config.Git
		directory := siteDirectory(g.URL, g.Branch, p.Place.Path)
		for _, file := range p.Files.Names() {
			for _, o := range policy.ObjectsIn(file, p.Files[file]) {
				out = append(out, broughtObject{deliveredObject{directory, o}, p.Place.Site.GetName()})
			}
		}
	}
	return out
}

// siteDirectory is where the directories of all deployments of a Site lie, one of which is known.
func siteDirectory(url, branch, directory string) string {
	return policy.RepositoryKey(url) + " " + branch + " " + path.Dir(path.Dir(directory))
}

// A rival is a deployment of a file, which is compared with the deployments of the cluster.
type rival struct {
	at      Finding
	d       manifest.Document
	name    string
	brought []broughtObject
}

// compareWithCluster finds objects that a deployment of the cluster, and of no file, delivers to the same Site. It warns of objects that the
// user may not read, since a conflict with them stays unknown.
func (v *validation) compareWithCluster(ctx context.Context) {
	if v.catalog.Cluster == nil || len(v.rivals) == 0 {
		return
	}
	inFiles, observed := map[string]bool{}, delivered{objects: claims{}, directories: map[string]bool{}}
	for _, r := range v.rivals {
		inFiles[r.name] = true
		for _, b := range r.brought {
			observed.directories[b.key.directory] = true
		}
	}
	v.readDelivered(ctx, &observed)
	for _, problem := range observed.unknown {
		v.addWarning(Finding{File: v.rivals[0].at.File, Line: 1, Reason: reasonUnreadable, Message: problem})
	}
	for _, r := range v.rivals {
		r.at.Reason = deploymentv1alpha1.ReasonObjectConflict
		v.addFinding(r.at, r.d, observed.objects.findConflict(r.name, r.brought, inFiles))
	}
	v.sortFindings()
}

// readDelivered records the objects that the deployments of the cluster deliver, as far as the user may read them: in all namespaces, or in
// the namespaces of the files.
func (v *validation) readDelivered(ctx context.Context, target *delivered) {
	err := v.catalog.Cluster.EachDelivery(ctx, cluster.AllNamespaces, target.addDelivery)
	if !kerrors.IsForbidden(err) {
		target.noteDeliveryError("", err)
		return
	}
	target.unknown = append(target.unknown, "the GitDeliveries of all namespaces cannot be listed, so objects that deployments of other namespaces deliver to the same Site are not found")
	namespaces := map[string]bool{}
	for _, r := range v.rivals {
		namespaces[path.Dir(r.name)] = true
	}
	for _, namespace := range slices.Sorted(maps.Keys(namespaces)) {
		target.noteDeliveryError(" of namespace "+namespace, v.catalog.Cluster.EachDelivery(ctx, namespace, target.addDelivery))
	}
}

// sortFindings puts findings in the order of files and documents.
func (v *validation) sortFindings() {
	slices.SortStableFunc(v.report.Findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(slices.Index(v.files, a.File), slices.Index(v.files, b.File)), cmp.Compare(a.Document, b.Document))
	})
}

// delivered has the objects that the GitDeliveries of a cluster deliver to the Sites of some deployments.
type delivered struct {
	// directories of the Sites. Nothing else is noted.
	directories map[string]bool

	objects claims

	// unknown names the unreadable objects, with the errors.
	unknown []string
}

// noteDeliveryError notes which GitDeliveries could not be read, if any.
func (s *delivered) noteDeliveryError(scope string, err error) {
	if err != nil {
		s.unknown = append(s.unknown, "the GitDeliveries"+scope+" cannot be read, so objects that their deployments deliver to the same Site are not found: "+err.Error())
	}
}

// addDelivery records the objects of a GitDelivery.
func (s *delivered) addDelivery(d *deliveryv1alpha1.GitDelivery) {
	ref, remote := d.Spec.ForProvider.ClaimRef, d.Status.AtProvider.Remote
	if remote == nil {
		return // It delivered nothing yet.
	}
	name := ref.Namespace + "/" + ref.Name
	for t := range d.Spec.ForProvider.EachTree() {
		directory := siteDirectory(remote.URL, t.Branch, t.Path)
		isBroughtLater := t.Action != deliveryv1alpha1.ActionDesired && directories.HasLater(d.Spec.ForProvider, t)
		if !s.directories[directory] || isBroughtLater {
			continue
		}
		files, err := tree.Decode(t.Files)
		if t.Action != deliveryv1alpha1.ActionDesired || err != nil {
			s.unknown = append(s.unknown, "the objects of "+name+" at Site "+t.Site+" are not compared: its GitDelivery does not hold the files, as after a rollback")
			continue
		}
		for _, file := range files.Names() {
			for _, o := range policy.ObjectsIn(file, files[file]) {
				s.objects[deliveredObject{directory, o}] = name
			}
		}
	}
}
