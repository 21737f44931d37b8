package main

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"unicode"

	"github.com/elenchus-go/debate/evidence"
	"github.com/elenchus-go/debate/report"
)

// These types are the parts of SARIF 2.1.0 that hold the findings of a review.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool       sarifTool       `json:"tool"`
		Automation sarifAutomation `json:"automationDetails"`
		Results    []sarifResult   `json:"results"`
		ColumnKind string          `json:"columnKind"`
	}
	sarifAutomation struct {
		ID string `json:"id"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name           string      `json:"name"`
		InformationURI string      `json:"informationUri"`
		Version        string      `json:"version"`
		Rules          []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID               string       `json:"id"`
		Name             string       `json:"name"`
		ShortDescription sarifMessage `json:"shortDescription"`
		FullDescription  sarifMessage `json:"fullDescription"`
		Help             sarifMessage `json:"help"`
		Default          sarifDefault `json:"defaultConfiguration"`
	}
	sarifDefault struct {
		Level string `json:"level"`
	}
	sarifMessage struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		RuleID       string            `json:"ruleId"`
		RuleIndex    int               `json:"ruleIndex"`
		Level        string            `json:"level"`
		Message      sarifMessage      `json:"message"`
		Locations    []sarifLocation   `json:"locations"`
		Fingerprints map[string]string `json:"partialFingerprints"`
		Properties   sarifProperties   `json:"properties"`
	}
	sarifLocation struct {
		Physical sarifPhysical `json:"physicalLocation"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   sarifRegion   `json:"region"`
	}
	sarifArtifact struct {
		URI  string `json:"uri"`
		Base string `json:"uriBaseId"`
	}
	sarifRegion struct {
		StartLine int           `json:"startLine"`
		EndLine   int           `json:"endLine"`
		Snippet   *sarifMessage `json:"snippet,omitempty"`
	}
	// sarifProperties are what SARIF has no field for.
	sarifProperties struct {
		By      string         `json:"by,omitempty"`
		Votes   map[string]int `json:"votes,omitempty"`
		Reasons []string       `json:"reasons,omitempty"`
		Dissent []string       `json:"dissent,omitempty"`
	}
)

// sarifLevels lists the levels of SARIF, which are the severities of findings. There is a rule for each.
var sarifLevels = []string{"error", "warning", "note"}

// sarifRules returns the rules of the findings.
func sarifRules() (list []sarifRule) {
	for i, level := range sarifLevels {
		what := []string{"A reviewer has found an error.", "A reviewer warns of something.", "A reviewer notes something."}[i]
		list = append(list, sarifRule{
			ID: fmt.Sprintf("DEBATE%d", 1001+i), Name: []string{"ReviewError", "ReviewWarning", "ReviewNote"}[i],
			ShortDescription: sarifMessage{what}, FullDescription: sarifMessage{what + " Other reviewers have attacked it, and it stands."},
			Help: sarifMessage{"Read the message, and check it: models have written it."}, Default: sarifDefault{level},
		})
	}
	return list
}

// sarifVersion returns a version as SARIF recommends it: a number comes first.
func sarifVersion(v string) string {
	v = strings.TrimPrefix(v, "v")
	if v == "" || !unicode.IsDigit(rune(v[0])) {
		return "0 " + v
	}
	return v
}

// sarifOf returns the findings of a debate in SARIF 2.1.0.
func sarifOf(id string, findings []report.Finding) ([]byte, error) {
	run := sarifRun{
		Tool: sarifTool{sarifDriver{
			Name: "debate", InformationURI: "https://github.com/elenchus-go/debate", Version: sarifVersion(version()), Rules: sarifRules(),
		}},
		Automation: sarifAutomation{"debate/" + id}, Results: []sarifResult{}, ColumnKind: "utf16CodeUnits",
	}
	for i := range findings {
		run.Results = append(run.Results, sarifResultOf(&findings[i]))
	}
	const schema = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
	return encodeJSON(sarifLog{Schema: schema, Version: "2.1.0", Runs: []sarifRun{run}})
}

func sarifResultOf(f *report.Finding) sarifResult {
	rule := len(sarifLevels) - 1
	for i, level := range sarifLevels {
		if f.Severity == level {
			rule = i
		}
	}
	place := sarifPhysical{
		Artifact: sarifArtifact{URI: (&url.URL{Path: f.File}).String(), Base: "%SRCROOT%"},
		Region:   sarifRegion{StartLine: max(f.Line, 1), EndLine: max(f.Line, f.EndLine, 1)}, // services show no finding without lines
	}
	if f.Line > 0 && f.Quote != "" {
		place.Region.Snippet = &sarifMessage{f.Quote}
	}
	message := messageOf(f)
	if f.Text != "" && f.Title != "" {
		message = f.Title + "\n\n" + message
	}
	key, _ := json.Marshal([]string{f.File, f.Quote, f.Title}) // texts always encode
	return sarifResult{
		RuleID: sarifRules()[rule].ID, RuleIndex: rule, Level: sarifLevels[rule], Message: sarifMessage{message},
		Locations: []sarifLocation{{place}}, Fingerprints: map[string]string{"debateFinding/v1": evidence.Hash(string(key))},
		Properties: sarifProperties{f.By, f.Votes, f.Reasons, f.Dissent},
	}
}
