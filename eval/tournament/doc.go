// Package tournament finds out which model argues best: each two players debate each motion twice, with the sides swapped,
// judges score the debates, and ratings with confidence intervals say what the games show and what not.
//
//	t := tournament.Tournament{
//		Name:    "spring",
//		Players: []tournament.Player{{Participant: debate.Participant{Name: "Large", Model: "gpt-5"}}, {Participant: debate.Participant{Name: "Small", Model: "gpt-5-mini"}}},
//		Judges:  []tournament.Player{{Participant: debate.Participant{Name: "Cy", Model: "claude-sonnet-4-5"}}},
//		Motions: []tournament.Motion{{Topic: "Cities should ban private cars."}},
//	}
//	report, err := t.Run(ctx, options)
//	if err != nil {
//		log.Fatal(err)
//	}
//	fmt.Println(strings.Join(report.Summary, "\n"))
//
// # Games
//
// Each game is a debate with the labels tournament, motion, pro and con, in any store. Its id derives from these and from its
// configuration. So a tournament that is started again goes on: it plays the games that are missing, continues those that
// were interrupted, and retries those that ended in error. No call whose turn is committed is made again. Add players or
// motions whenever you like: only their games are played. If the store has workers run debates, they run those of a
// tournament, too. Do not run one tournament in two processes at the same time.
//
// In a game the players have the names Pro and Con, so that neither the other player nor a judge knows who they are.
//
// # Ratings
//
// Ratings are those of the Bradley-Terry model with ties and a term for the side, on the scale of Elo: a difference of 400
// points means odds of 10 to 1, and the mean is 1500. Intervals are resampled over pairs of games, because the judgments of
// a pair depend on one another. [Rating.Rate] rates games that were played elsewhere.
package tournament
