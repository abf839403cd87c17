import { type ReactNode, useState } from "react";
import { Button } from "../../ui/button.tsx";
import { JsonView } from "../../ui/json-view.tsx";
import { parseJson } from "../../ui/parse-json.ts";
import styles from "./interrupt-form.module.css";
import { ReviewForm } from "./review-form.tsx";
import { type Decision, reviewsOf } from "./review-request.ts";

type Props = { value: unknown; onAnswer: (resume: unknown) => void };

/** Shows what an interrupted run asks for as a form; the answer resumes the run. */
export function InterruptForm({ value, onAnswer }: Props): ReactNode {
  const reviews = reviewsOf(value);
  const [decisions, setDecisions] = useState<Decision[]>([]);
  const review = reviews?.[decisions.length];
  if (reviews === null || review === undefined) {
    return <AnswerForm value={value} onAnswer={onAnswer} />;
  }
  const onDecide = (decision: Decision): void => {
    const all = [...decisions, decision];
    if (all.length < reviews.length) setDecisions(all);
    else onAnswer({ decisions: all });
  };
  return (
    <section className={styles.form} aria-label="The agent asks">
      {reviews.length === 1 ? null : (
        <h3>
          {decisions.length + 1} of {reviews.length}
        </h3>
      )}
      <ReviewForm key={decisions.length} review={review} onDecide={onDecide} />
    </section>
  );
}

function AnswerForm({ value, onAnswer }: Props): ReactNode {
  const [text, setText] = useState("");
  return (
    <form
      className={styles.form}
      aria-label="The agent asks"
      onSubmit={(event) => {
        event.preventDefault();
        onAnswer(parseJson(text));
      }}
    >
      <JsonView value={value} />
      <label className={styles.field}>
        <span>Answer, as text or JSON</span>
        <textarea rows={2} value={text} onChange={(event) => setText(event.target.value)} />
      </label>
      <div className={styles.actions}>
        <Button type="submit" kind="primary" size="s" disabled={text.trim() === ""}>
          Answer
        </Button>
      </div>
    </form>
  );
}
