package debatetool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/report"
	"github.com/elenchus-go/debate/store"
)

const (
	defaultPreset   = "default"
	defaultMaxText  = 4_000
	recoverInterval = 10 * time.Second // between two looks at whether a debate still has a driver
)

// Preset is a kind of debate that a model can choose.
type Preset struct {
	// Description says what it is good for, for the model. Defaults to its protocol and the names of its participants.
	Description string
	// Config is the configuration of its debates. An input sets the topic and may replace the background, the protocol and
	// the participants. It may lower the limits. With another protocol, the numbers of rounds do not apply.
	Config debate.Config
}

// Options configures a Toolset.
type Options struct {
	// Presets are the kinds of debates, by name. If there are several, an input without a preset uses the one that is named
	// "default". Without presets, there is one in which two participants debate for at most two rounds before a judge.
	Presets map[string]Preset
	// Labels are added to each debate. The tools find only debates that have these labels. Use them to separate users.
	Labels map[string]string
	// MaxWait is the longest time of a call that waits for a debate. After it, the call returns the turns so far, and the
	// debate goes on. Defaults to no limit.
	MaxWait time.Duration
	// MaxText is the largest number of characters of each text in an output. Defaults to 4,000.
	MaxText int
	// QuoteAlways keeps the delimiters in what agents say to people, too; see [Toolset.ForPeople]. Set it if models read what
	// such an agent says, for example a supervisor above it.
	QuoteAlways bool
}

// Toolset holds debates as tools for models. It is safe for concurrent use.
type Toolset struct {
	engine      *debate.Engine
	presets     map[string]Preset
	labels      map[string]string
	maxWait     time.Duration
	maxText     int
	quoteAlways bool
	forPeople   bool // whether outputs have no delimiters
}

// New returns the tools for the debates of an engine. Keep the engine open as long as debates run. After a restart, call
// Engine.Recover first, or continue a debate by its id.
func New(e *debate.Engine, o Options) (*Toolset, error) {
	switch {
	case e == nil:
		return nil, errors.New("make debate tools: the engine is nil")
	case o.MaxWait < 0:
		return nil, fmt.Errorf("make debate tools: MaxWait is %s, want 0 or more", o.MaxWait)
	case o.MaxText < 0:
		return nil, fmt.Errorf("make debate tools: MaxText is %d, want 0 or more", o.MaxText)
	}
	presets := maps.Clone(o.Presets)
	if len(presets) == 0 {
		presets = map[string]Preset{defaultPreset: {"Two participants argue for and against, and a judge decides.", debate.Config{
			Protocol:     panel.Protocol{Format: panel.ConvergenceSeeking},
			Participants: []debate.Participant{{Name: "Ada", Side: "for"}, {Name: "Bo", Side: "against"}},
			Judges:       []debate.Participant{{Name: "Judge"}},
			Limits:       debate.Limits{MaxRounds: 2},
		}}}
	}
	for name, p := range presets {
		if p.Config.Protocol == nil {
			p.Config.Protocol = panel.Protocol{}
			presets[name] = p
		}
	}
	return &Toolset{
		engine: e, presets: presets, labels: maps.Clone(o.Labels), maxWait: o.MaxWait, maxText: cmp.Or(o.MaxText, defaultMaxText),
		quoteAlways: o.QuoteAlways,
	}, nil
}

func (s *Toolset) presetNames() []string { return slices.Sorted(maps.Keys(s.presets)) }

// open returns a handle on a debate that has the labels of the toolset. If nobody drives it any more, this engine does.
func (s *Toolset) open(ctx context.Context, id string) (*debate.Debate, error) {
	d, err := s.engine.Open(ctx, id)
	if err != nil {
		return nil, err
	}
	status, err := d.Status(ctx)
	if err != nil {
		return nil, err
	}
	for name, value := range s.labels {
		if status.Labels[name] != value {
			return nil, fmt.Errorf("open debate %s: %w", id, store.ErrNotFound)
		}
	}
	return d, d.Recover(ctx)
}

// keepDriven recovers a debate as often as its driver goes, until the function that it returns is called.
func keepDriven(ctx context.Context, d *debate.Debate) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	left := make(chan struct{})
	go func() {
		defer close(left)
		t := time.NewTicker(recoverInterval)
		defer t.Stop()
		for {
			select {
			case <-t.C:
				_ = d.Recover(ctx) // it is tried again
			case <-ctx.Done():
				return
			}
		}
	}()
	return func() { cancel(); <-left }
}

// Open returns a debate that has the labels of the toolset. It returns an *[Error] if there is none with that id. If nobody
// drives the debate any more, the engine of the toolset does.
func (s *Toolset) Open(ctx context.Context, id string) (*debate.Debate, error) {
	d, err := s.open(ctx, id)
	return d, explain(id, err)
}

// maxReads limits how often describe reads a debate that goes on meanwhile.
const maxReads = 5

// describe returns the output for a debate. What it waits for and its report belong to one point in its history, unless it
// goes on too fast.
func (s *Toolset) describe(ctx context.Context, d *debate.Debate, after int64) (o Output, err error) {
	status, err := d.Status(ctx)
	for range maxReads {
		var waiting []debate.Asked
		var r *report.Report
		var blind []string
		if err == nil {
			waiting, err = d.Waiting(ctx)
		}
		if err == nil {
			blind, err = d.Blind(ctx)
		}
		if err == nil {
			r, err = report.Collect(ctx, d)
		}
		if err != nil {
			break
		}
		o = s.quoter(d.ID()).describe(r, waiting, status.MaxRounds, after)
		if len(blind) > 0 { // they read the output, and would know who says what
			o.Turns, o.Notices = nil, nil
			o.Position = max(after, 0)
		}
		before := status.Seq
		status, err = d.Status(ctx)
		if status.Seq == before {
			break
		}
	}
	return o, explain(d.ID(), err)
}

// quoter returns what prepares the texts of a debate.
func (s *Toolset) quoter(id string) quoter {
	return quoter{judge.NewPseudonyms(nil, id, "debatetool", false), s.maxText, s.forPeople}
}
