import { currentTurn, type ModelRequest, type Turn } from './conversation.ts'
import type { Decision } from './decision.ts'
import { demoDirectives, demoGreeting } from './demo-answers.ts'
import { type Directive, findDirectives } from './directives.ts'
import type { Holds } from './holds.ts'
import type { LoggedRequest } from './log.ts'
import { DEFAULT_USAGE, firstCharacters, type Plan, planAnswer } from './plan.ts'
import type { Provider } from './provider.ts'
import { isPromptOfCli, isSystemOfHelper, sideAnswer } from './side-requests.ts'
import { waitBefore, writeAnswer, writeJson } from './writer.ts'

/** Decides how a model request is answered and writes the answer. */
export type Script = (request: ScriptedRequest) => Decision

type ScriptedRequest = { read: ModelRequest; provider: Provider; logged: LoggedRequest; id: string }

/**
 * Creates the script of one server; it counts the requests per `fail-first` key. In a demo, known messages have
 * directives, and other text is answered with a greeting.
 */
export function createScript(holds: Holds, isDemo: boolean): Script {
  const carried = new Map<string, number>()

  function planMain({ read, provider }: ScriptedRequest, turn: Turn, directives: readonly Directive[]): Plan {
    const plan = planAnswer({
      request: read,
      turn,
      directives,
      isOffered: (tool) => provider.offers(read, tool),
      timesCarried: (key) => carried.get(key) ?? 0,
      answerPlain: isDemo ? demoGreeting : undefined,
    })
    for (const key of new Set(plan.carriedKeys)) carried.set(key, (carried.get(key) ?? 0) + 1)
    return plan
  }

  function directivesOf(text: string): readonly Directive[] {
    const found = findDirectives(text)
    return isDemo && found.length === 0 ? demoDirectives(text) : found
  }

  return (request) => {
    const { read } = request
    const turn = currentTurn(read.messages)
    const isSide = read.isSide || isPromptOfCli(turn.text) || isSystemOfHelper(read.system)
    const directives = isSide ? [] : directivesOf(turn.text)
    const plan = isSide ? planSide(read, turn) : planMain(request, turn, directives)
    const decision = carryOut(request, plan, holds)
    const logged: LoggedRequest = {
      ...decision.logged,
      kind: isSide ? 'side' : 'main',
      directives: directives.map((directive) => directive.name),
      user_text: firstCharacters(turn.text, 500),
    }
    return { ...decision, logged }
  }
}

function planSide(read: ModelRequest, turn: Turn): Plan {
  const text = sideAnswer(read, turn.text)
  const outcome = { kind: 'text' as const, text }
  return {
    ...{ delaySeconds: 0, holds: [], outcome, pieceDelayMs: 0, isCut: false },
    ...{ usage: DEFAULT_USAGE, carriedKeys: [] },
  }
}

function carryOut({ read, provider, logged, id }: ScriptedRequest, plan: Plan, holds: Holds): Decision {
  const { outcome, usage } = plan
  const { model } = read
  if (outcome.kind === 'error') {
    const failure = provider.error(outcome.error)
    return {
      logged: { ...logged, model, status: failure.status },
      async answer(response, signal) {
        await waitBefore(plan, holds, signal)
        return writeJson(response, failure)
      },
    }
  }
  const isFine = plan.pieceDelayMs > 0 || plan.isCut
  const answer = { id, model, request: read, outcome, usage, isFine }
  return {
    logged: { ...logged, model },
    async answer(response, signal) {
      await waitBefore(plan, holds, signal)
      return writeAnswer({ response, provider, plan, answer, signal })
    },
  }
}
