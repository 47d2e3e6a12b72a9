package main

// A dashboard is one of Grafana, as far as it is used.
type dashboard struct {
	Title         string    `json:"title"`
	UID           string    `json:"uid"`
	SchemaVersion int       `json:"schemaVersion"`
	Refresh       string    `json:"refresh"`
	Tags          []string  `json:"tags"`
	Time          timeRange `json:"time"`
	Templating    variables `json:"templating"`
	Annotations   notes     `json:"annotations"`
	Panels        []panel   `json:"panels"`
}

type timeRange struct {
	From string `json:"from"`
	To   string `json:"to"`
}

type variables struct {
	List []variable `json:"list"`
}

// Notes are the annotations of a dashboard. There are none, and Grafana's schema requires the list.
type notes struct {
	List []struct{} `json:"list"`
}

// A variable is chosen by who looks.
type variable struct {
	Name  string `json:"name"`
	Label string `json:"label"`
	Type  string `json:"type"`
	Query string `json:"query"`
}

// A panel shows queries.
type panel struct {
	ID          int        `json:"id"`
	Title       string     `json:"title"`
	Description string     `json:"description,omitempty"`
	Type        string     `json:"type"`
	GridPos     gridPos    `json:"gridPos"`
	Datasource  datasource `json:"datasource"`
	FieldConfig fieldCfg   `json:"fieldConfig"`
	Targets     []target   `json:"targets"`
}

type gridPos struct {
	H int `json:"h"`
	W int `json:"w"`
	X int `json:"x"`
	Y int `json:"y"`
}

type datasource struct {
	Type string `json:"type"`
	UID  string `json:"uid"`
}

type fieldCfg struct {
	Defaults  fieldDefaults `json:"defaults"`
	Overrides []struct{}    `json:"overrides"`
}

type fieldDefaults struct {
	Unit string `json:"unit"`
}

// A target is one query of a panel.
type target struct {
	RefID        string `json:"refId"` //nolint:tagliatelle // Grafana calls it so.
	Expr         string `json:"expr"`
	LegendFormat string `json:"legendFormat,omitempty"`
	Format       string `json:"format,omitempty"`
	Instant      bool   `json:"instant,omitempty"`
}

const (
	// columns is how wide a dashboard is, and panelHeight how high a panel.
	columns     = 24
	panelHeight = 8

	// schemaVersion is the version of Grafana's model that the dashboard is written in.
	schemaVersion = 39
)

// A view is what a panel shows, before it has a place.
type view struct{ title, kind, unit, expr, legend string }

// dashboardViews returns what the dashboard shows, three in a row.
func dashboardViews() []view {
	return []view{
		{title: "Deployments by phase", kind: "timeseries", unit: "short", expr: `sum by (phase) (intentdeployment_current)`, legend: "{{phase}}"},
		{title: "Applications by phase", kind: "timeseries", unit: "short", expr: `sum by (phase) (application_current)`, legend: "{{phase}}"},
		{title: "Clusters by phase", kind: "timeseries", unit: "short", expr: `sum by (phase) (workloadcluster_current)`, legend: "{{phase}}"},
		{title: "Failed now", kind: "stat", unit: "short", expr: `sum(intentdeployment_current{phase="Failed"}) or vector(0)`},
		{title: "Rolled back and not fixed", kind: "stat", unit: "short", expr: `sum(intentdeployment_current{outcome="RolledBack"}) or vector(0)`},
		{title: "Without a ledger", kind: "stat", unit: "short", expr: `sum(intentdeployment_ledger_unreachable) or vector(0)`},
		{title: "Revisions that ended", kind: "timeseries", unit: "short", expr: `sum by (outcome) (increase(intentdeployment_outcomes_total[$__rate_interval]))`, legend: "{{outcome}}"},
		{title: "Rollbacks", kind: "timeseries", unit: "short", expr: `sum(increase(intentdeployment_rollback_total[$__rate_interval]))`, legend: "rollbacks"},
		{title: "Canaries by state", kind: "timeseries", unit: "short", expr: `sum by (state) (intentdeployment_canary)`, legend: "{{state}}"},
		{title: "Time until Sites run a revision (95 %)", kind: "timeseries", unit: "s", expr: `histogram_quantile(0.95, sum by (le) (rate(intentdeployment_sync_duration_seconds_bucket[$__rate_interval])))`, legend: "95 %"},
		{title: "Time in a phase (95 %)", kind: "timeseries", unit: "s", expr: `histogram_quantile(0.95, sum by (le, phase) (rate(intentdeployment_phase_duration_seconds_bucket[$__rate_interval])))`, legend: "{{phase}}"},
		{title: "Measurements of gates", kind: "timeseries", unit: "short", expr: `sum by (type, outcome) (increase(intentplane_gate_measurements_total[$__rate_interval]))`, legend: "{{type}} {{outcome}}"},
		{title: "Operations of Git servers", kind: "timeseries", unit: "ops", expr: `sum by (operation, class) (rate(intentplane_git_operations_total[$__rate_interval]))`, legend: "{{operation}} {{class}}"},
		{title: "Time of an operation (95 %)", kind: "timeseries", unit: "s", expr: `histogram_quantile(0.95, sum by (le, operation) (rate(intentplane_git_operation_duration_seconds_bucket[$__rate_interval])))`, legend: "{{operation}}"},
		{title: "Stages of the function (95 %)", kind: "timeseries", unit: "s", expr: `histogram_quantile(0.95, sum by (le, stage) (rate(intentplane_function_stage_duration_seconds_bucket[$__rate_interval])))`, legend: "{{stage}}"},
		{title: "Needs a person", kind: "table", unit: "short", expr: `intentdeployment_condition{type="Stalled"} == 1`},
		{title: "Applications that do not run", kind: "table", unit: "short", expr: `application_info{phase!="Running"} == 1`},
		{title: "Versions", kind: "table", unit: "short", expr: `count by (component, version) (intentplane_build_info)`},
	}
}

// newDashboard returns the dashboard.
func newDashboard() dashboard {
	out := dashboard{
		Title: "Intentplane", UID: "intentplane", SchemaVersion: schemaVersion, Refresh: "30s", Tags: []string{"intentplane"}, Time: timeRange{From: "now-6h", To: "now"},
		Templating:  variables{List: []variable{{Name: "datasource", Label: "Prometheus", Type: "datasource", Query: "prometheus"}}},
		Annotations: notes{List: []struct{}{}},
	}
	const inARow = 3
	for i, v := range dashboardViews() {
		out.Panels = append(out.Panels, v.newPanel(i+1, gridPos{H: panelHeight, W: columns / inARow, X: i % inARow * columns / inARow, Y: i / inARow * panelHeight}))
	}
	return out
}

func (v view) newPanel(id int, grid gridPos) panel {
	t := target{RefID: "A", Expr: v.expr, LegendFormat: v.legend}
	if v.kind == "table" {
		t.Format, t.Instant = "table", true
	}
	return panel{
		ID: id, Title: v.title, Type: v.kind, GridPos: grid, Datasource: datasource{Type: "prometheus", UID: "${datasource}"},
		FieldConfig: fieldCfg{Defaults: fieldDefaults{Unit: v.unit}, Overrides: []struct{}{}}, Targets: []target{t},
	}
}
