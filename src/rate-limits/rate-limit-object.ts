import { DurableObject } from "cloudflare:workers";
import {
  SlidingWindow,
  type TakeAnswer,
  type TakeRequest,
  type WindowState,
} from "./sliding-window.ts";

type Stored = { window: WindowState; alarmAt: number };

const KEY = "window";
/** Minimum time between two checks whether an object is still needed. */
const MIN_ALARM_MS = 60_000;

/**
 * Counts the requests of one client under one limit. It owns the window of permits in use, which is one row. The
 * row is written with each answer that grants permits, and the answer is sent only after the row is on disk. An
 * alarm deletes the row when no permit is in use.
 */
export class RateLimitObject extends DurableObject<Env> {
  readonly #window: SlidingWindow;
  #alarmAt: number;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    const stored = ctx.storage.kv.get<Stored>(KEY);
    this.#window = new SlidingWindow(stored?.window ?? null, Date.now(), newLeaseId);
    this.#alarmAt = stored?.alarmAt ?? 0;
  }

  async take(request: TakeRequest): Promise<TakeAnswer> {
    const now = Date.now();
    const answer = this.#window.take(request, now);
    const isGiven = answer.admitted && (request.needed > 0 || answer.lease !== null);
    if (!isGiven) return answer;
    const isAlarmDue = this.#alarmAt <= now;
    if (isAlarmDue) this.#alarmAt = now + Math.max(MIN_ALARM_MS, this.#window.emptyIn(now));
    this.#store();
    if (isAlarmDue) await this.ctx.storage.setAlarm(this.#alarmAt);
    return answer;
  }

  override async alarm(): Promise<void> {
    const now = Date.now();
    const emptyMs = this.#window.emptyIn(now);
    if (emptyMs === 0) {
      this.#alarmAt = 0;
      await this.ctx.storage.deleteAll();
      return;
    }
    this.#alarmAt = now + Math.max(MIN_ALARM_MS, emptyMs);
    this.#store();
    await this.ctx.storage.setAlarm(this.#alarmAt);
  }

  #store(): void {
    const stored: Stored = { window: this.#window.state(), alarmAt: this.#alarmAt };
    this.ctx.storage.kv.put(KEY, stored);
  }
}

/** Returns a lease id that was not used before, even if the object has lost its state. */
function newLeaseId(): number {
  const [high = 0, low = 0] = crypto.getRandomValues(new Uint32Array(2));
  return (high % 2 ** 21) * 2 ** 32 + low;
}
