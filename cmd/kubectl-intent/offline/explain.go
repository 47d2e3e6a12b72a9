package offline

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/digest"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/manifest"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/rendering"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/terminal"
	"github.com/intentplane/intentplane/function/gates"
	"github.com/intentplane/intentplane/function/offline"
	"github.com/intentplane/intentplane/function/render"
)

// Explain shows how deployments are understood.
type Explain struct {
	manifest.DeploymentFlags
	terminal.FormFlag
}

// An Explanation is how one deployment was understood.
type Explanation struct {
	// Namespace and Name of the deployment, and the Digest of its spec.
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Digest    string `json:"digest"`

	// Field that holds the intent, and the intent as it was Understood.
	Field      string          `json:"field"`
	Understood json.RawMessage `json:"understood"`

	// Blueprint that it compiles with.
	Blueprint string `json:"blueprint,omitempty"`

	// Update is the Blueprint in the channel that a user has to approve before the deployment compiles with it.
	Update string `json:"update,omitempty"`

	// Sites that it goes to.
	Sites []SiteExplanation `json:"sites,omitempty"`
}

// A SiteExplanation is the delivery to one Site.
type SiteExplanation struct {
	// Site, and the Path of the directory in the repository.
	Site string `json:"site"`
	Path string `json:"path"`

	// Values that the Blueprint reads.
	Values []render.Value `json:"values"`

	// Checks that a revision is judged by there, with all of their rules. None means that nothing is measured.
	Checks []deploymentv1alpha1.Check `json:"checks,omitempty"`
}

// Run prints an explanation of each deployment. Sites and values need a catalog. It returns an error for an invalid deployment, and for
// unreadable objects.
func (e *Explain) Run(s *terminal.Streams) error {
	if e.Claim == "" && e.IsIncomplete() {
		return terminal.UsageError{Err: errors.New("--site and --blueprint are needed together, or --live")}
	}
	claims, c, err := e.LoadDeployments(s.In)
	if err != nil {
		return err
	}
	all := make([]Explanation, 0, len(claims))
	for i := range claims {
		explanation, err := e.explainDeployment(c, &claims[i])
		if err != nil {
			return errors.Wrapf(err, "%s/%s", claims[i].GetNamespace(), claims[i].GetName())
		}
		all = append(all, explanation)
	}
	return e.PrintValue(s.Out, all, func(w io.Writer) error { return printExplanations(w, all) })
}

func (e *Explain) explainDeployment(from *manifest.Catalog, c *deploymentv1alpha1.IntentDeployment) (Explanation, error) {
	i, field, err := offline.ReadIntent(c.Spec)
	if err != nil {
		return Explanation{}, rendering.WithReason(err)
	}
	sum, err := digest.Spec(&c.Spec)
	out := Explanation{Namespace: c.GetNamespace(), Name: c.GetName(), Digest: sum, Field: field, Understood: i.Canonical()}
	if err != nil || !e.IsComplete() {
		return out, err
	}
	input, compiled, err := from.CompileDeployment(c)
	if err != nil {
		return out, rendering.WithReason(err)
	}
	out.Blueprint = compiled.Selection.Blueprint.GetName()
	if newest := compiled.Selection.InChannel; newest != out.Blueprint {
		out.Update = newest
	}
	explicit := offline.ValuesOf(c.Spec)
	for n, in := range compiled.Inputs {
		values, err := render.Explain(in, explicit)
		if err != nil {
			return out, err
		}
		site := SiteExplanation{Site: in.Site.Name, Path: compiled.Selection.Places[n].Path, Values: values, Checks: checksAtSite(compiled.Checks, in.Site.Name)}
		out.Sites = append(out.Sites, site)
	}
	return out, rendering.WithReason(compiled.CheckRead(input))
}

// checksAtSite returns the checks of a Site.
func checksAtSite(all gates.Checks, site string) []deploymentv1alpha1.Check {
	var out []deploymentv1alpha1.Check
	for _, c := range all {
		if c.Site == site {
			out = append(out, c.Check)
		}
	}
	return out
}

func printExplanations(w io.Writer, all []Explanation) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, e := range all {
		_, _ = fmt.Fprintf(t, "%s\nDIGEST\t%s\nFROM\t%s\nUNDERSTOOD\t%s\n", terminal.QuoteLine(e.Namespace+"/"+e.Name), e.Digest, e.Field, terminal.QuoteInvisible(string(e.Understood)))
		if e.Blueprint != "" {
			_, _ = fmt.Fprintf(t, "BLUEPRINT\t%s\n", terminal.QuoteInvisible(e.Blueprint))
		}
		if e.Update != "" {
			_, _ = fmt.Fprintf(t, "UPDATE\t%s\n", terminal.QuoteInvisible(e.Update))
		}
		for _, s := range e.Sites {
			_, _ = fmt.Fprintf(t, "\nSITE\t%s\nPATH\t%s\nKEY\tVALUE\tFROM\n", terminal.QuoteInvisible(s.Site), terminal.QuoteInvisible(s.Path))
			for _, v := range s.Values {
				_, _ = fmt.Fprintf(t, "%s\t%q\t%s\n", terminal.QuoteLine(v.Key), v.Value, v.From)
			}
			explainChecks(t, s.Checks)
		}
	}
	return errors.Wrap(t.Flush(), "cannot print")
}

// explainChecks prints how a revision is judged at a Site.
func explainChecks(t io.Writer, checks []deploymentv1alpha1.Check) {
	for i, c := range checks {
		if i == 0 {
			_, _ = fmt.Fprint(t, "CHECK\tTHRESHOLD\tDELAY\tINTERVAL\tCOUNT\tFAILURES\tERRORS\tNO-DATA\tTIMEOUT\n")
		}
		_, _ = fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%d\t%d\t%d\t%s\t%s\n", terminal.QuoteLine(c.Name), cmp.Or(terminal.QuoteInvisible(string(c.Threshold)), "-"), firstMeasurementDelay(c), c.Interval,
			*c.Count, *c.FailureLimit, *c.ConsecutiveErrorLimit, c.NoData, c.Timeout)
	}
}

// firstMeasurementDelay returns how long a Site has to run the revision before a check is measured first: initialDelay, or as long as the check looks back,
// whichever is longer.
func firstMeasurementDelay(c deploymentv1alpha1.Check) string {
	initial, err := time.ParseDuration(string(c.InitialDelay))
	if lead := gates.Lead(&c); err == nil && lead > initial {
		return lead.String()
	}
	return string(c.InitialDelay)
}
