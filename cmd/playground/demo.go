package main

import (
	"cmp"
	"context"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/test/controlplane"
	"github.com/intentplane/intentplane/test/controlplane/kubernetes"
	"github.com/intentplane/intentplane/test/gitserver"
)

const (
	repository = "fleet"

	succeeded = "Succeeded"
	failed    = "Failed"
)

// A demo is the demonstration of the playground, on a control plane that runs.
type demo struct {
	printer

	cp *controlplane.ControlPlane

	// programs is the folder that has kubectl-intent.
	programs string
}

// runExamples applies the examples, watches the claim among them and shows the commit that it became. It returns an error, with the
// reason, when the claim fails or is late.
func (d *demo) runExamples(ctx context.Context, examples string, deadline time.Duration) error {
	seed := map[string]string{"README.md": "What runs on our fleet.\n"}
	if err := d.cp.Git.CreateRepo(ctx, repository, seed); err != nil {
		return err
	}
	d.printTitle("Applying " + examples)
	d.printLinef("Flux does not run here, so the Sites get no engine, and their files in Git count as live. \"make tour\" has Flux.")
	claim, err := d.applyExamples(ctx, examples)
	if err != nil {
		return err
	}
	d.printTitle("The claim moves")
	ctx, cancel := context.WithTimeoutCause(ctx, deadline, errors.Errorf("claim %s did not end within %s", claim.GetName(), deadline))
	defer cancel()
	if err := d.printPhases(ctx, claim); err != nil {
		return err
	}
	d.printTitle("The commit that appeared")
	return d.printLastCommit(ctx)
}

// applyExamples applies all examples and returns the claim among them.
func (d *demo) applyExamples(ctx context.Context, examples string) (*unstructured.Unstructured, error) {
	files, err := kubernetes.YAMLFiles(examples)
	if err != nil {
		return nil, err
	}
	var claim *unstructured.Unstructured
	for _, f := range files {
		objects, err := d.applyExampleFile(ctx, f)
		if err != nil {
			return nil, errors.Wrapf(err, "cannot apply %s", f)
		}
		for _, u := range objects {
			if u.GetKind() == "IntentDeployment" {
				claim = u
			}
		}
	}
	if claim == nil {
		return nil, errors.Errorf("cannot find an IntentDeployment in %s", examples)
	}
	return claim, nil
}

func (d *demo) applyExampleFile(ctx context.Context, file string) ([]*unstructured.Unstructured, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	objects, err := kubernetes.ParseYAML(b)
	if err != nil {
		return nil, err
	}
	for _, u := range objects {
		if err := errors.Join(deliverToRepository(u, d.cp.Git.URL(repository)), controlplane.RemoveEngine(u)); err != nil {
			return nil, err
		}
		if err := d.cp.ApplyObject(ctx, u); err != nil {
			return nil, err
		}
		d.printApplied(u)
	}
	return objects, nil
}

// deliverToRepository makes a provider configuration name our repository instead of the invented repository of the examples.
func deliverToRepository(u *unstructured.Unstructured, url string) error {
	if !strings.HasSuffix(u.GetKind(), "ProviderConfig") {
		return nil
	}
	return errors.Wrapf(unstructured.SetNestedField(u.Object, url, "spec", "git", "url"), "cannot set repository of %s", u.GetName())
}

// printPhases prints each phase of the claim until it is Succeeded. It returns an error when it is Failed or ctx ends.
func (d *demo) printPhases(ctx context.Context, claim *unstructured.Unstructured) error {
	began := time.Now()
	last := ""
	u, err := d.observeClaim(ctx, claim, func(u *unstructured.Unstructured) bool {
		if phase := phaseOfObject(u); phase != last {
			last = phase
			d.printClaimPhase(time.Since(began), u)
		}
		return last == succeeded || last == failed
	})
	if err != nil {
		return err
	}
	return failureOfClaim(u)
}

// observeClaim calls a function with the claim as it is, and each time that it changes, until the function returns true, and returns the
// claim as it is then. When ctx ends before, it returns an error with the reason why the claim waits.
func (d *demo) observeClaim(ctx context.Context, claim *unstructured.Unstructured, done func(*unstructured.Unstructured) bool) (*unstructured.Unstructured, error) {
	for ctx.Err() == nil {
		w, err := d.watchClaim(ctx, claim)
		if err != nil {
			return nil, err
		}
		// A watch may end at any time, then another one begins with the present objects.
		for e := range w.ResultChan() {
			u, ok := e.Object.(*unstructured.Unstructured)
			if ok && e.Type != watch.Deleted && done(u) {
				w.Stop()
				return u, nil
			}
		}
	}
	return nil, errors.Wrap(d.explainClaim(context.WithoutCancel(ctx), claim), context.Cause(ctx).Error())
}

func (d *demo) watchClaim(ctx context.Context, claim *unstructured.Unstructured) (watch.Interface, error) {
	l := &unstructured.UnstructuredList{}
	l.SetGroupVersionKind(claim.GroupVersionKind())
	l.SetKind(claim.GetKind() + "List")
	w, err := d.cp.Client.Watch(ctx, l, client.InNamespace(claim.GetNamespace()), client.MatchingFields{"metadata.name": claim.GetName()})
	return w, errors.Wrap(err, "cannot watch claim")
}

// explainClaim reports the state of a claim: the claim's status, its composite, and the composed objects.
func (d *demo) explainClaim(ctx context.Context, claim *unstructured.Unstructured) error {
	u, err := d.readObject(ctx, claim.GetAPIVersion(), claim.GetKind(), claim.GetNamespace(), claim.GetName())
	if err != nil {
		return err
	}
	objects := []*unstructured.Unstructured{u}
	if xr, found, _ := unstructured.NestedStringMap(u.Object, "spec", "resourceRef"); found {
		composite, err := d.readObject(ctx, xr["apiVersion"], xr["kind"], "", xr["name"])
		if err != nil {
			return err
		}
		objects = append(objects, composite)
	}
	composed, err := d.composedObjects(ctx, objects[len(objects)-1], u.GetNamespace())
	if err != nil {
		return err
	}
	var out []error
	for _, o := range append(objects, composed...) {
		out = append(out, errors.Errorf("%s %s: %s", o.GetKind(), o.GetName(), falseConditions(o)))
	}
	return errors.Join(out...)
}

// composedObjects returns the existing composed objects of a composite, in its claim's namespace or its own.
func (d *demo) composedObjects(ctx context.Context, composite *unstructured.Unstructured, namespace string) ([]*unstructured.Unstructured, error) {
	refs, found, _ := unstructured.NestedSlice(composite.Object, "spec", "resourceRefs")
	if !found {
		refs, _, _ = unstructured.NestedSlice(composite.Object, "spec", "crossplane", "resourceRefs")
	}
	var out []*unstructured.Unstructured
	for _, v := range refs {
		ref, ok := v.(map[string]any)
		if !ok {
			continue
		}
		text := func(k string) string { s, _, _ := unstructured.NestedString(ref, k); return s }
		u, err := d.readObject(ctx, text("apiVersion"), text("kind"), namespace, text("name"))
		if client.IgnoreNotFound(err) != nil {
			return nil, err
		}
		if err == nil {
			out = append(out, u)
		}
	}
	return out, nil
}

func (d *demo) readObject(ctx context.Context, apiVersion, kind, namespace, name string) (*unstructured.Unstructured, error) {
	u := &unstructured.Unstructured{}
	u.SetAPIVersion(apiVersion)
	u.SetKind(kind)
	err := d.cp.Client.Get(ctx, types.NamespacedName{Namespace: namespace, Name: name}, u)
	return u, errors.Wrapf(err, "cannot get %s %s", kind, name)
}

// failureOfClaim returns nil for a claim that is Succeeded.
func failureOfClaim(u *unstructured.Unstructured) error {
	if phaseOfObject(u) == succeeded {
		return nil
	}
	return errors.Errorf("claim %s is %s: %s", u.GetName(), phaseOfObject(u), falseConditions(u))
}

func phaseOfObject(u *unstructured.Unstructured) string {
	phase, _, _ := unstructured.NestedString(u.Object, "status", "phase")
	return phase
}

// falseConditions returns all conditions of an object that are not True, with their messages.
func falseConditions(u *unstructured.Unstructured) string {
	var out []string
	for _, c := range controlplane.Conditions(u).Conditions {
		if c.Status != "True" && c.Message != "" {
			out = append(out, string(c.Type)+" is "+string(c.Status)+" ("+string(c.Reason)+"): "+c.Message)
		}
	}
	return cmp.Or(strings.Join(out, "; "), "its conditions do not say why")
}

// printLastCommit prints the last commit, and its changes at one Site. That at the others differs little.
func (d *demo) printLastCommit(ctx context.Context) error {
	log, err := d.cp.Git.Git(ctx, repository, "log", "-1", "--stat=100", gitserver.Branch)
	if err != nil {
		return err
	}
	d.printLinef("%s", log)
	names, err := d.cp.Git.Git(ctx, repository, "show", "--format=", "--name-only", gitserver.Branch)
	if err != nil {
		return err
	}
	dir := firstDirectory(names)
	diff, err := d.cp.Git.Git(ctx, repository, "show", "--format=", gitserver.Branch, "--", dir)
	if err != nil {
		return err
	}
	d.printLinef("The files in %s:\n\n%s", dir, diff)
	return nil
}

// firstDirectory returns the directory of the first file that git names, a line each: the directory of one claim at one Site.
func firstDirectory(names string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(names), "\n")
	return path.Dir(first)
}

func (d *demo) printCommands() {
	d.printTitle("Look further, until Ctrl-C: in another terminal, type")
	for _, line := range suggestedCommands(d.programs, d.cp.KubectlPath(), d.cp.Kubeconfig, d.cp.Git.URL(repository), d.cp.LogFile("provider")) {
		d.printLinef("  %s", line)
	}
}

// suggestedCommands returns commands for a user who wants to look around. The first two let the others work: kubectl finds its plugin "kubectl
// intent" among our programs on the PATH.
func suggestedCommands(programs, kubectl, kubeconfig, repository, log string) []string {
	return []string{
		"export KUBECONFIG=" + kubeconfig,
		"export PATH=" + programs + ":" + filepath.Dir(kubectl) + ":$PATH",
		"kubectl get intentdeployments.claims.intentplane.dev -A",
		"kubectl intent explain --claim shop -n team-a",
		"kubectl intent wait shop -n team-a",
		"kubectl intent --help",
		"kubectl get composite",
		"kubectl get managed -A",
		"git clone " + repository,
		"tail -f " + log,
	}
}
