package live

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/intentplane/intentplane/bundles/state"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/connection"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/terminal"
)

// State holds the commands that read records of bundles. None of it writes to a cluster.
type State struct {
	List   StateList   `cmd:"" help:"List the records of bundles."`
	Show   StateShow   `cmd:"" help:"Show the record of a bundle, package by package."`
	Export StateExport `cmd:"" help:"Print records as they are stored, for other programs."`
}

// recordFlags say where records are.
type recordFlags struct {
	connection.Flags

	UDS bool `help:"Read the records of uds-cli, in namespace uds unless --namespace names another one." name:"uds"`
}

func (f recordFlags) openRecords(everywhere bool) (*state.Client, error) {
	o := f.ClusterOptions()
	c, err := o.Records(everywhere, f.UDS)
	if err != nil {
		return nil, terminal.UsageError{Err: err}
	}
	return c, nil
}

// StateList lists records.
type StateList struct {
	recordFlags
	terminal.ObjectsFlag

	AllNamespaces bool `help:"List the objects of all namespaces." short:"A"`
}

// A RecordSummary is one record in a list.
type RecordSummary struct {
	// Namespace and Name of the bundle.
	Namespace string `json:"namespace"`
	Name      string `json:"name"`

	// Version and Status of the bundle.
	Version string       `json:"version"`
	Status  state.Status `json:"status"`

	// Packages that the bundle has, Deployed ones of them, and Unreferenced ones, which left it.
	Packages     int `json:"packages"`
	Deployed     int `json:"deployed"`
	Unreferenced int `json:"unreferenced"`

	// Updated is when the record changed last.
	Updated time.Time `json:"updated"`
}

// Run lists the records that can be read. It returns an error for unreadable records, after the others are printed.
func (c *StateList) Run(s *terminal.Streams) error {
	records, err := c.openRecords(c.AllNamespaces)
	if err != nil {
		return err
	}
	all, err := records.ListBundleStates(context.Background())
	if err != nil && all == nil {
		return err
	}
	summaries := make([]RecordSummary, 0, len(all))
	for i := range all {
		summaries = append(summaries, summariseRecord(&all[i]))
	}
	names := func() ([]string, error) { return secretNames(all), nil }
	return errors.Join(c.PrintValue(s.Out, summaries, names, func(w io.Writer) error { return printSummaries(w, summaries) }), err)
}

// secretNames returns the Secrets that hold records.
func secretNames(all []state.BundleState) []string {
	var out []string
	for i := range all {
		out = append(out, "secret/"+all[i].Secret)
	}
	return out
}

// summariseRecord counts the packages of a record.
func summariseRecord(s *state.BundleState) RecordSummary {
	out := RecordSummary{
		Namespace: s.Namespace, Name: s.Name, Version: s.Version, Status: s.Status, Updated: s.DateUpdated, Unreferenced: len(s.Unreferenced()),
	}
	out.Packages = len(s.PkgStatuses) - out.Unreferenced
	for _, p := range s.PkgStatuses {
		if p.Status == state.Success {
			out.Deployed++
		}
	}
	return out
}

func printSummaries(w io.Writer, all []RecordSummary) error {
	t := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	_, _ = fmt.Fprint(t, "NAMESPACE\tNAME\tVERSION\tSTATUS\tPACKAGES\tUNREFERENCED\tUPDATED\n")
	for _, r := range all {
		_, _ = fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%d/%d\t%d\t%s\n",
			terminal.QuoteLine(r.Namespace), terminal.QuoteInvisible(r.Name), cmp.Or(terminal.QuoteInvisible(r.Version), "-"), r.Status,
			r.Deployed, r.Packages, r.Unreferenced, r.Updated.UTC().Format(time.RFC3339))
	}
	return errors.Wrap(t.Flush(), "cannot print")
}

// StateShow shows one record.
type StateShow struct {
	recordFlags
	terminal.FormFlag

	Name string `arg:"" help:"Name of a bundle."`
}

// Run shows a record. It returns an error if there is none, or it cannot be read.
func (c *StateShow) Run(s *terminal.Streams) error {
	records, err := c.openRecords(false)
	if err != nil {
		return err
	}
	r, err := records.GetBundleState(context.Background(), c.Name)
	if err != nil {
		return err
	}
	return c.PrintValue(s.Out, r, func(w io.Writer) error { return printRecord(w, r) })
}

func printRecord(w io.Writer, r *state.BundleState) error {
	t := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	_, _ = fmt.Fprintf(t, "BUNDLE\t%s\nVERSION\t%s\nSTATUS\t%s\nUPDATED\t%s\nWRITER\t%s\n\nPACKAGE\tVERSION\tWANTED\tSTATUS\tREVISION\tUPDATED\tMESSAGE\n",
		terminal.QuoteInvisible(r.Namespace+"/"+r.Name), cmp.Or(terminal.QuoteInvisible(r.Version), "-"), r.Status,
		r.DateUpdated.UTC().Format(time.RFC3339), cmp.Or(terminal.QuoteInvisible(r.Writer), "-"))
	for _, p := range r.PkgStatuses {
		revision := ""
		if p.Revision > 0 {
			revision = fmt.Sprint(p.Revision)
		}
		_, _ = fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n",
			terminal.QuoteLine(p.Name), cmp.Or(terminal.QuoteInvisible(p.Version), "-"), cmp.Or(terminal.QuoteInvisible(p.WantedVersion), "-"), p.Status,
			cmp.Or(revision, "-"), p.DateUpdated.UTC().Format(time.RFC3339), terminal.QuoteInvisible(p.Message))
	}
	return errors.Wrap(t.Flush(), "cannot print")
}

// StateExport prints records for other programs.
type StateExport struct {
	recordFlags

	Name          string `arg:""          help:"Name of a bundle. Without one, all records of the namespace are printed, as a list." optional:""`
	AllNamespaces bool   `help:"Print the records of all namespaces." short:"A"`
	Output        string `default:"json"  enum:"json,yaml"                                                                          help:"Form of the output: json or yaml." short:"o"`
}

// An ExportedRecord is a record, and where it is.
type ExportedRecord struct {
	// Namespace and Secret that hold the record.
	Namespace string `json:"namespace"`
	Secret    string `json:"secret"`

	// Record with all fields, including the fields that this version does not know.
	Record *state.BundleState `json:"record"`
}

// Run prints one record, or all of them. It prints none if one cannot be read, since who reads the list could take it for whole.
func (c *StateExport) Run(s *terminal.Streams) error {
	if c.Name != "" && c.AllNamespaces {
		return terminal.UsageError{Err: errors.New("a bundle is in one namespace: leave out its name, or --all-namespaces")}
	}
	records, err := c.openRecords(c.AllNamespaces)
	if err != nil {
		return err
	}
	v, err := exportRecords(context.Background(), records, c.Name)
	if err != nil {
		return err
	}
	return terminal.FormFlag{Output: c.Output}.PrintValue(s.Out, v, nil)
}

func exportRecords(ctx context.Context, records *state.Client, name string) (any, error) {
	if name != "" {
		return records.GetBundleState(ctx, name)
	}
	all, err := records.ListBundleStates(ctx)
	out := make([]ExportedRecord, 0, len(all))
	for i := range all {
		out = append(out, ExportedRecord{Namespace: all[i].Namespace, Secret: all[i].Secret, Record: &all[i]})
	}
	return out, err
}
