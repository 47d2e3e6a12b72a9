package request

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	bundlev1alpha1 "github.com/intentplane/intentplane/apis/bundle/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	statev1alpha1 "github.com/intentplane/intentplane/apis/state/v1alpha1"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/cluster"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/connection"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/terminal"
)

// exitPlanChanged is the exit code of a prune whose plan differs from the confirmed plan.
const exitPlanChanged = 3

// Prune removes unowned directories and packages.
type Prune struct {
	connection.Flags
	terminal.FormFlag

	Bundle        string        `arg:""                                                                                                                                                                help:"Remove packages that left this bundle, as state list calls it. Without it: the packages that left any bundle of the namespace, a deleted one too." optional:"" predictor:"bundle"`
	Directories   bool          `help:"Remove directories of the repository that no claim, composite or delivery names."`
	Config        string        `help:"ClusterProviderConfig of the repository, or with providerconfig/NAME a ProviderConfig of the namespace. It goes with --directories."`
	Only          []string      `help:"Only the directories of these paths, and of claims of these names, or the packages of these names."                                                       sep:","`
	MinAge        time.Duration `default:"1h"                                                                                                                                                          help:"Keep directories that were delivered, and packages that left their bundle, a shorter time ago."`
	AllowMost     bool          `help:"Let more than half of the directories or packages go."`
	AllowStateful bool          `help:"Also prune objects with volumes or other state that cannot be recreated."`
	Namespaces    []string      `help:"Namespaces beside that of the request, * for all. They count where --namespace is that of Crossplane."                                                          sep:","`
	DryRun        bool          `help:"Show the plan, and remove nothing."`
	Confirm       bool          `help:"Do not ask: whatever the plan removes may go."`
	Plan          string        `help:"Do not ask if the plan has this digest, as another call showed it. Exits with 3 if it is another one."                                                          placeholder:"DIGEST"`
	Timeout       time.Duration `default:"5m"                                                                                                                                                          help:"How long to wait for the plan, and for the removal."`
}

// Run shows a plan, and carries it out once it is confirmed. It returns an error for a plan that is refused, that changed, or that was not carried out.
func (c *Prune) Run(s *terminal.Streams) error {
	if err := c.checkPruneFlags(s); err != nil {
		return terminal.UsageError{Err: err}
	}
	opened, err := c.OpenFor(s)
	if err != nil {
		return err
	}
	ctx := context.Background()
	p := &pruning{Prune: c, streams: s, cluster: opened}
	if err := p.requestPlan(ctx); err != nil {
		return err
	}
	if err := p.finishRequest(ctx); err != nil {
		return err
	}
	return c.PrintValue(s.Out, p.request, func(io.Writer) error { return nil })
}

// checkPruneFlags returns an error for flags that do not go together.
func (c *Prune) checkPruneFlags(s *terminal.Streams) error {
	switch {
	case c.Directories != (c.Config != ""):
		return errors.New("--directories and --config go together: one names the repository of the other")
	case c.Directories && c.Bundle != "":
		return errors.New("directories belong to no bundle: leave out the bundle, or --directories")
	case c.DryRun && (c.Confirm || c.Plan != ""):
		return errors.New("--dry-run removes nothing: leave out --confirm and --plan")
	case c.Confirm && c.Plan != "":
		return errors.New("--confirm is for any plan, and --plan for one: choose one of them")
	case !c.DryRun && !c.Confirm && c.Plan == "" && !s.IsInteractive:
		return errors.New("no one can be asked: --dry-run shows the plan, --plan DIGEST confirms that one, and --confirm any")
	}
	return nil
}

// A pruning is one call of the command.
type pruning struct {
	*Prune

	streams *terminal.Streams
	cluster *cluster.Cluster

	// made is the request as it was made, and request as it was seen last.
	made    *unstructured.Unstructured
	request *statev1alpha1.PruneRequest
}

// requestPlan makes the request, waits for its plan, and prints that.
func (p *pruning) requestPlan(ctx context.Context) error {
	ctx, cancel := connection.CancelAfter(ctx, p.Timeout)
	defer cancel()
	o, err := p.requestObject()
	if err != nil {
		return err
	}
	if p.made, err = p.cluster.AskPrune(ctx, o); err != nil {
		return err
	}
	if err := p.followRequest(ctx, statev1alpha1.TypePlanned, func(r *statev1alpha1.PruneRequest) bool { return r.Status.Phase != "" }); err != nil {
		return err
	}
	if p.Output == "text" {
		return printPrunePlan(p.streams.Out, p.request)
	}
	return nil
}

func (p *pruning) requestObject() (*unstructured.Unstructured, error) {
	spec := statev1alpha1.PruneRequestSpec{
		Scope: statev1alpha1.ScopeBundle, Bundle: bundleReference(p.Bundle), Only: p.Only, MinAge: &metav1.Duration{Duration: p.MinAge},
		AllowMost: p.AllowMost, AllowStateful: p.AllowStateful, Namespaces: p.Namespaces,
	}
	if p.Directories {
		config := configReference(p.Config)
		spec.Scope, spec.ProviderConfigRef = statev1alpha1.ScopeDirectories, &config
	}
	o, err := newPruneObject("PruneRequest", p.cluster.Namespace(), &spec)
	if err == nil {
		o.SetGenerateName("prune-")
	}
	return o, err
}

func newPruneObject(kind, namespace string, spec any) (*unstructured.Unstructured, error) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(spec)
	if err != nil {
		return nil, errors.Wrapf(err, "cannot encode the %s", kind)
	}
	o := &unstructured.Unstructured{Object: map[string]any{"spec": content}}
	o.SetGroupVersionKind(statev1alpha1.GroupVersion.WithKind(kind))
	o.SetNamespace(namespace)
	return o, nil
}

// bundleReference returns the Bundle of a record's name: the name of a namespaced composite ends with .ns. It returns nil for no name.
func bundleReference(name string) *statev1alpha1.BundleReference {
	if name == "" {
		return nil
	}
	if short, isNamespaced := strings.CutSuffix(name, ".ns"); isNamespaced {
		return &statev1alpha1.BundleReference{Group: bundlev1alpha1.GroupNamespaced, Name: short}
	}
	return &statev1alpha1.BundleReference{Group: bundlev1alpha1.GroupClaims, Name: name}
}

// configReference reads NAME, or KIND/NAME.
func configReference(text string) rolloutv1alpha1.ConfigReference {
	kind, name, isQualified := strings.Cut(text, "/")
	switch {
	case !isQualified:
		return rolloutv1alpha1.ConfigReference{Kind: "ClusterProviderConfig", Name: text}
	case strings.EqualFold(kind, "providerconfig"):
		return rolloutv1alpha1.ConfigReference{Kind: "ProviderConfig", Name: name}
	case strings.EqualFold(kind, "clusterproviderconfig"):
		return rolloutv1alpha1.ConfigReference{Kind: "ClusterProviderConfig", Name: name}
	}
	return rolloutv1alpha1.ConfigReference{Kind: kind, Name: name}
}

// followRequest waits until the request meets a condition, and prints its obstacles meanwhile.
func (p *pruning) followRequest(ctx context.Context, typ xpv2.ConditionType, condition func(*statev1alpha1.PruneRequest) bool) error {
	lastMessage := ""
	err := p.cluster.FollowPrune(ctx, p.made, func(r *statev1alpha1.PruneRequest) (bool, error) {
		p.request = r
		p.made.SetResourceVersion(r.GetResourceVersion()) // A later watch starts from here: the server forgets older versions in minutes.
		if condition(r) {
			return true, nil
		}
		message := describeCondition(r.Status.GetCondition(typ))
		if message == lastMessage {
			return false, nil
		}
		lastMessage = message
		_, err := fmt.Fprintln(p.streams.ErrOut, terminal.EscapeCommandOfCI(terminal.PlainMessage(lastMessage)))
		return false, errors.Wrap(err, "cannot print")
	})
	if ctx.Err() != nil {
		return timeoutError(p.made.GetName(), lastMessage)
	}
	return err
}

func describeCondition(c xpv2.Condition) string {
	if c.Reason == "" {
		return ""
	}
	return strings.TrimSuffix(fmt.Sprintf("%s: %s", c.Reason, c.Message), ": ")
}

// finishRequest lets the plan be confirmed and carried out, unless it is refused, or belongs to a dry run.
func (p *pruning) finishRequest(ctx context.Context) error {
	switch p.request.Status.Phase {
	case statev1alpha1.PhaseRefused:
		return errors.New(describeCondition(p.request.Status.GetCondition(statev1alpha1.TypePlanned)))
	case statev1alpha1.PhaseDone:
		return p.checkPlanDigest()
	case statev1alpha1.PhasePlanned, statev1alpha1.PhasePruning, statev1alpha1.PhasePlanChanged, statev1alpha1.PhaseExpired:
	}
	if p.DryRun {
		return nil
	}
	if err := p.checkPlanDigest(); err != nil {
		return err
	}
	if isMeant, err := p.confirmPlan(); err != nil || !isMeant {
		return errors.Wrap(err, "cannot ask")
	}
	return p.applyPrunePlan(ctx)
}

// applyPrunePlan approves the plan, and waits until it is carried out. The time begins here: how long a user thinks about a plan does not count.
func (p *pruning) applyPrunePlan(ctx context.Context) error {
	ctx, cancel := connection.CancelAfter(ctx, p.Timeout)
	defer cancel()
	o, err := p.approvalObject(ctx)
	if err != nil {
		return err
	}
	if err := p.cluster.ApprovePrune(ctx, o); err != nil {
		return err
	}
	if err := p.followRequest(ctx, statev1alpha1.TypeCompleted, func(r *statev1alpha1.PruneRequest) bool { return r.Status.Phase.IsFinal() }); err != nil {
		return err
	}
	return p.reportPruneEnd()
}

// checkPlanDigest returns an error for another plan than --plan names.
func (p *pruning) checkPlanDigest() error {
	if digest := p.request.Status.Plan.Digest; p.Plan != "" && digest != p.Plan {
		return terminal.EndError{Err: errors.Errorf("the plan changed: it has digest %s now, and nothing was removed", digest), Code: exitPlanChanged}
	}
	return nil
}

// confirmPlan asks the user, unless a flag answers.
func (p *pruning) confirmPlan() (bool, error) {
	if p.Confirm || p.Plan != "" {
		return true, nil
	}
	isMeant, err := p.streams.AskUser(fmt.Sprintf("Remove %s?", countPruned(p.request)))
	if err == nil && !isMeant {
		_, err = fmt.Fprintln(p.streams.ErrOut, "nothing was removed")
	}
	return isMeant, err
}

// countPruned says how many items the plan of a request removes.
func countPruned(r *statev1alpha1.PruneRequest) string {
	if r.Spec.Scope == statev1alpha1.ScopeBundle {
		return formatCount(r.Status.Plan.Pruned, "package", "packages")
	}
	return formatCount(r.Status.Plan.Pruned, "directory", "directories")
}

func formatCount(n int32, singular, plural string) string {
	if n == 1 {
		return "1 " + singular
	}
	return fmt.Sprintf("%d %s", n, plural)
}

func (p *pruning) approvalObject(ctx context.Context) (*unstructured.Unstructured, error) {
	o, err := newPruneObject("PruneApproval", p.cluster.Namespace(), &statev1alpha1.PruneApprovalSpec{
		RequestRef: statev1alpha1.PruneRequestReference{Name: p.made.GetName(), UID: string(p.made.GetUID())},
		Plan:       p.request.Status.Plan.Digest, ApprovedBy: p.cluster.User(ctx),
	})
	if err == nil {
		o.SetName(p.made.GetName())
	}
	return o, err
}

// reportPruneEnd says how the request ended, as an error if nothing was removed.
func (p *pruning) reportPruneEnd() error {
	completed := p.request.Status.GetCondition(statev1alpha1.TypeCompleted)
	if completed.Status != corev1.ConditionTrue {
		code := terminal.ExitInvalid
		if p.request.Status.Phase == statev1alpha1.PhasePlanChanged {
			code = exitPlanChanged
		}
		return terminal.EndError{Err: errors.New(describeCondition(completed)), Code: code}
	}
	if p.Output != "text" {
		return nil
	}
	_, err := fmt.Fprintln(p.streams.Out, terminal.QuoteLine(completed.Message))
	return errors.Wrap(err, "cannot print")
}

// printPrunePlan prints the items to remove, and the kept items with their reasons.
func printPrunePlan(w io.Writer, r *statev1alpha1.PruneRequest) error {
	plan := r.Status.Plan
	t := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	for _, i := range plan.Items {
		description := strings.TrimSuffix(fmt.Sprintf("%s: %s", i.Reason, i.Message), ": ")
		if i.Verdict != "Keep" {
			description = describeGoing(i)
		}
		_, _ = fmt.Fprintf(t, "%s\t%s\t%s\n", terminal.QuoteLine(strings.ToUpper(i.Verdict)), terminal.QuoteInvisible(pruneItemName(i)), terminal.QuoteInvisible(description))
	}
	if err := t.Flush(); err != nil {
		return errors.Wrap(err, "cannot print")
	}
	summary := fmt.Sprintf("%s to prune, %d to keep", countPruned(r), plan.Kept)
	if plan.More > 0 {
		summary += fmt.Sprintf(" (%d not listed)", plan.More)
	}
	if plan.Digest != "" {
		summary += ". Plan " + plan.Digest
	}
	_, err := fmt.Fprintln(w, terminal.QuoteLine(summary))
	return errors.Wrap(err, "cannot print")
}

// pruneItemName returns the path of a directory, or the name of a package with its namespace.
func pruneItemName(i statev1alpha1.PruneItem) string {
	if i.Path == "" {
		return i.Namespace + "/" + i.Name
	}
	return i.Path
}

// describeGoing describes the content of an item to remove.
func describeGoing(i statev1alpha1.PruneItem) string {
	description := formatCount(i.Objects, "object", "objects")
	if i.Path != "" {
		description += fmt.Sprintf(" of %s/%s", i.Namespace, i.Name)
	}
	if i.Site != "" {
		description += " at " + i.Site
	}
	if len(i.Stateful) > 0 {
		description += ", with " + strings.Join(i.Stateful, ", ")
	}
	return description
}
