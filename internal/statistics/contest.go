package statistics

// A Contest is one or more comparisons of two players, or a part of one.
type Contest struct {
	First, Second   int     // the players, by number from 0. First has the side to which Strengths.Side belongs
	Win, Tie, Loss  float64 // how often First won, neither won, and First lost; shares of a comparison count, too
	WithoutTheSides bool    // the players had no sides
}

// seats returns the contest without its results.
func (c Contest) seats() Contest {
	c.Win = 0
	c.Tie = 0
	c.Loss = 0
	return c
}

// Connected returns the players that contests connect, directly or through others: one list if all are.
func Connected(n int, contests []Contest) [][]int {
	return components(n, contests, func(win, loss float64) bool { return win+loss > 0 })
}

// components returns the strongly connected components of the graph in which a player has an edge to another one if they
// count something: each player of a component reaches each other one. won is given what the first player got, and the
// second one, with ties for both.
func components(n int, contests []Contest, counts func(win, loss float64) bool) (list [][]int) {
	reaches := make([][]bool, n)
	for i := range reaches {
		reaches[i] = make([]bool, n)
		reaches[i][i] = true
	}
	for _, c := range contests {
		win, loss := c.Win+c.Tie, c.Loss+c.Tie
		reaches[c.First][c.Second] = reaches[c.First][c.Second] || counts(win, loss)
		reaches[c.Second][c.First] = reaches[c.Second][c.First] || counts(loss, win)
	}
	for k := range n {
		for i := range n {
			for j := range n {
				reaches[i][j] = reaches[i][j] || reaches[i][k] && reaches[k][j]
			}
		}
	}
	seen := make([]bool, n)
	for i := range n {
		if seen[i] {
			continue
		}
		var all []int
		for j := range n {
			if reaches[i][j] && reaches[j][i] {
				seen[j] = true
				all = append(all, j)
			}
		}
		list = append(list, all)
	}
	return list
}
