// The answer to a question: a form that fits its schema.
import { useState } from 'preact/hooks';
import { blank, formOf, valueOf } from '../model/question.js';
import { Line, Text } from './text.jsx';

const optionText = (option) => (typeof option === 'string' ? option : JSON.stringify(option));

function Field({ form, filled, change, id, first }) {
  switch (form.type) {
    case 'boolean':
      return (
        <span class="choices" role="group">
          {[true, false].map((value, index) => (
            <button
              type="button"
              key={index}
              class={filled === value ? 'chosen' : ''}
              aria-pressed={filled === value}
              data-first={first && index === 0 ? '' : undefined}
              onClick={() => change(value)}
            >
              {value ? 'Yes' : 'No'}
            </button>
          ))}
        </span>
      );
    case 'choice':
      return (
        <span class="choices" role="group">
          {form.options.map((option, index) => (
            <button
              type="button"
              key={index}
              class={filled === index ? 'chosen' : ''}
              aria-pressed={filled === index}
              data-first={first && index === 0 ? '' : undefined}
              onClick={() => change(index)}
            >
              <Line text={optionText(option)} />
            </button>
          ))}
        </span>
      );
    case 'number':
      return (
        <input
          id={id}
          type="text"
          inputMode="decimal"
          value={filled}
          data-first={first ? '' : undefined}
          onInput={(event) => change(event.currentTarget.value)}
        />
      );
    case 'text':
      return form.long ? (
        <textarea
          id={id}
          rows={3}
          value={filled}
          data-first={first ? '' : undefined}
          onInput={(event) => change(event.currentTarget.value)}
        />
      ) : (
        <input
          id={id}
          type="text"
          value={filled}
          data-first={first ? '' : undefined}
          onInput={(event) => change(event.currentTarget.value)}
        />
      );
    case 'object':
      return (
        <div class="fields">
          {form.fields.map((field, index) => (
            <div class="field" key={field.name}>
              <label for={`${id}-${index}`}>
                <Line text={field.title} />
                {field.required ? '' : <span class="dim"> (optional)</span>}
              </label>
              <Field
                form={field.form}
                filled={filled[field.name]}
                id={`${id}-${index}`}
                first={first && index === 0}
                change={(value) => change({ ...filled, [field.name]: value })}
              />
              {field.form.help ? (
                <span class="help">
                  <Line text={field.form.help} />
                </span>
              ) : null}
            </div>
          ))}
        </div>
      );
    default:
      return (
        <textarea
          id={id}
          class="mono"
          rows={5}
          placeholder='{"key": "value"}'
          value={filled}
          data-first={first ? '' : undefined}
          onInput={(event) => change(event.currentTarget.value)}
        />
      );
  }
}

// `send(value)` is called with what was answered.
export function QuestionForm({ question, send, busy }) {
  const form = formOf(question.schema);
  const [filled, setFilled] = useState(() => blank(form));
  const [problem, setProblem] = useState(null);
  const direct = form.type === 'boolean' || form.type === 'choice';
  const give = (now) => {
    const found = valueOf(form, now);
    if ('error' in found) setProblem(found.error);
    else send(found.value);
  };
  return (
    <form
      class="question"
      onSubmit={(event) => {
        event.preventDefault();
        give(filled);
      }}
      onKeyDown={(event) => {
        if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) give(filled);
      }}
    >
      <p class="message">
        <Text text={question.message} limit={4000} />
      </p>
      {form.help ? (
        <p class="help">
          <Line text={form.help} />
        </p>
      ) : null}
      <Field
        form={form}
        filled={filled}
        id={`answer-${question.question}`}
        first
        change={(value) => {
          setFilled(value);
          setProblem(null);
          if (direct) give(value);
        }}
      />
      {problem ? (
        <p class="problem" role="alert">
          {problem}
        </p>
      ) : null}
      {direct ? null : (
        <div class="buttons">
          <button type="submit" class="primary" disabled={busy}>
            Answer
          </button>
        </div>
      )}
    </form>
  );
}
